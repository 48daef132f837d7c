"""Which bonds of contact_schur.py there are, and in which order: along the folds where sheets touch, by breadth
[Cuthill and McKee 1969].
"""

from __future__ import annotations

from ..compiled import inline


@inline
def find_bonds(bonds, rows, count):
    """Those of all rows that are on, in their order. Returns how many."""
    found = 0
    for r in range(count):
        if rows.on[r]:
            d0, d1, d2 = rows.slip[r, 0], rows.slip[r, 1], rows.slip[r, 2]
            slips = d0 * d0 + d1 * d1 + d2 * d2 > 0.0
            directions = 1 if rows.along[r] <= 0.0 else 2 if slips else 3
            for which in range(min(directions, bonds.k.shape[0] - found)):
                bonds.code[0, found] = 3 * r + which
                found += 1
    return found


@inline
def list_members(bonds, rows, found):
    """Bonds of each node."""
    begin, member = bonds.begin, bonds.member
    nodes = bonds.seen.shape[0]
    for i in range(nodes + 1):
        begin[i] = 0
    for b in range(found):
        for k in range(4):
            i = rows.unknown[bonds.code[0, b] // 3, k]
            if i >= 0:
                begin[i] += 1
    for i in range(nodes):
        begin[i + 1] += begin[i]
    # now where each list ends; filled from its end, it is left where it begins
    for b in range(found - 1, -1, -1):
        for k in range(4):
            i = rows.unknown[bonds.code[0, b] // 3, k]
            if i >= 0:
                begin[i] -= 1
                member[begin[i]] = b


@inline
def walk(bonds, rows, seed, done):
    """All that hangs together with a bond, by breadth, into code[1, done:] as numbers of bonds. Returns its end."""
    order, place = bonds.code[1], bonds.place
    order[done] = seed
    place[seed] = done
    end = done + 1
    while done < end:
        for k in range(4):
            i = rows.unknown[bonds.code[0, order[done]] // 3, k]
            if i >= 0 and not bonds.seen[i]:
                bonds.seen[i] = True
                for q in range(bonds.begin[i], bonds.begin[i + 1]):
                    other = bonds.member[q]
                    if place[other] < 0:
                        place[other] = end
                        order[end] = other
                        end += 1
        done += 1
    return end


@inline
def order_bonds(bonds, rows, found):
    """Places by breadth, from the far end of whatever hangs together, and all that backwards."""
    code, place, seen = bonds.code, bonds.place, bonds.seen
    for i in range(seen.shape[0]):
        seen[i] = False
    for b in range(found):
        place[b] = -1
    done = 0
    for seed in range(found):
        if place[seed] >= 0:
            continue
        end = walk(bonds, rows, seed, done)
        last = code[1, end - 1]
        for q in range(done, end):
            place[code[1, q]] = -1
            for k in range(4):
                i = rows.unknown[code[0, code[1, q]] // 3, k]
                if i >= 0:
                    seen[i] = False
        done = walk(bonds, rows, last, done)
    for b in range(found):
        place[b] = found - 1 - place[b]
        code[1, place[b]] = code[0, b]
    for q in range(bonds.begin[seen.shape[0]]):
        bonds.member[q] = place[bonds.member[q]]
