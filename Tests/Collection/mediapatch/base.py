"""What the edits of all formats share."""


class PatchError(Exception):
    """The file does not have the structure that the edit needs."""


def require(condition: object, message: str) -> None:
    """Raises PatchError unless the condition is true."""
    if not condition:
        raise PatchError(message)


def crc_table(polynomial: int, bits: int) -> list[int]:
    """The table of a CRC that begins with the highest bit."""
    table, high, mask = [], 1 << bits - 1, (1 << bits) - 1
    for value in range(256):
        crc = value << bits - 8
        for _ in range(8):
            crc = (crc << 1 ^ polynomial) & mask if crc & high else crc << 1
        table.append(crc)
    return table
