"""Enumeration and ordering of the directions of contact_schur.py: breadth first along the folds where deformables touch
[Cuthill and McKee 1969].
"""

from __future__ import annotations

from ..compiled import inline


@inline
def list_directions(schur, rows, count):
    """Directions of all active rows, in their order. Returns how many."""
    total = 0
    for r in range(count):
        if rows.active[r]:
            d0, d1, d2 = rows.slip_direction[r, 0], rows.slip_direction[r, 1], rows.slip_direction[r, 2]
            slips = d0 * d0 + d1 * d1 + d2 * d2 > 0.0
            in_row = 1 if rows.tangent_stiffness[r] <= 0.0 else 2 if slips else 3
            for which in range(min(in_row, schur.k.shape[0] - total)):
                schur.code[0, total] = 3 * r + which
                total += 1
    return total


@inline
def list_members(schur, rows, directions):
    """Directions of each node."""
    begin, member = schur.begin, schur.member
    nodes = schur.seen.shape[0]
    for i in range(nodes + 1):
        begin[i] = 0
    for b in range(directions):
        for k in range(4):
            i = rows.unknown[schur.code[0, b] // 3, k]
            if i >= 0:
                begin[i] += 1
    for i in range(nodes):
        begin[i + 1] += begin[i]
    # now where each list ends; filled from its end, it is left where it begins
    for b in range(directions - 1, -1, -1):
        for k in range(4):
            i = rows.unknown[schur.code[0, b] // 3, k]
            if i >= 0:
                begin[i] -= 1
                member[begin[i]] = b


@inline
def breadth_first(schur, rows, seed, done):
    """All that is connected with a direction, breadth first, into code[1, done:] as their numbers. Returns its end."""
    order, place = schur.code[1], schur.place
    order[done] = seed
    place[seed] = done
    end = done + 1
    while done < end:
        for k in range(4):
            i = rows.unknown[schur.code[0, order[done]] // 3, k]
            if i >= 0 and not schur.seen[i]:
                schur.seen[i] = True
                for q in range(schur.begin[i], schur.begin[i + 1]):
                    other = schur.member[q]
                    if place[other] < 0:
                        place[other] = end
                        order[end] = other
                        end += 1
        done += 1
    return end


@inline
def order_directions(schur, rows, directions):
    """Places in reverse breadth-first order, from the far end of each connected part."""
    code, place, seen = schur.code, schur.place, schur.seen
    for i in range(seen.shape[0]):
        seen[i] = False
    for b in range(directions):
        place[b] = -1
    done = 0
    for seed in range(directions):
        if place[seed] >= 0:
            continue
        end = breadth_first(schur, rows, seed, done)
        last = code[1, end - 1]
        for q in range(done, end):
            place[code[1, q]] = -1
            for k in range(4):
                i = rows.unknown[code[0, code[1, q]] // 3, k]
                if i >= 0:
                    seen[i] = False
        done = breadth_first(schur, rows, last, done)
    for b in range(directions):
        place[b] = directions - 1 - place[b]
        code[1, place[b]] = code[0, b]
    for q in range(schur.begin[seen.shape[0]]):
        schur.member[q] = place[schur.member[q]]
