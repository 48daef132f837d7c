"""Our own fuzzer. A part is a module here with

    case(seed: int, folder: Path) -> str | None     a description of a fault, or None

that makes one case from its seed alone, in an empty folder of its own, and judges it. `runner.py` runs cases in
worker processes: one that ends the process, or takes longer than LIMIT seconds, is a fault as well.

    files    mutated scene files, meshes and array files: read, written, built, sometimes stepped
    calls    random calls of the public Python names with odd arguments
"""
