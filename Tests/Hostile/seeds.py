"""Writes inputs for scripts/fuzz: the magic bytes of all container formats of `hostile_files`, each before a few kinds of bodies.

usage: seeds.py FOLDER
"""

import random
import sys

from hostile_files import MAGICS


def main() -> None:
    folder = sys.argv[1]
    random_ = random.Random(1)
    for number, (name, offset, magic) in enumerate(MAGICS):
        for kind, body in enumerate([bytes(300), random_.randbytes(300)]):
            with open("%s/magic-%03d-%d-%s" % (folder, number, kind, name), "wb") as file:
                file.write(bytes(offset) + magic + body)


main()
