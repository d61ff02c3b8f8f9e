"""Fields without a value: the classes accept null where the result schema does."""

from __future__ import annotations

from support import Case, make
from test_protocol import generator

UNKNOWN = "fd:" + "0" * 32


class NullableFieldTests(Case):
    async def test_an_entry_of_an_unknown_descriptor_has_no_path(self) -> None:
        main = (await self.client(await self.daemon())).main
        (item,) = (await main.load(UNKNOWN)).items
        self.assertEqual([entry.path for entry in await main.entries()], [None])
        self.assertIsNone((await main.item_status(item)).path)

    async def test_an_entry_of_a_descriptor_has_no_path_after_a_restart(self) -> None:
        daemon = await self.daemon(state=True)
        client = await self.client(daemon)
        with open(self.tone(), "rb") as file:
            (item,) = (await client.main.load(await client.hand_over(file), wait="ready")).items
        await client.state_save()
        await client.close()
        await daemon.stop()
        await daemon.start()
        main = (await self.client(daemon)).main
        (entry,) = await main.entries()
        self.assertEqual((entry.item, entry.path), (item, None))

    async def test_the_gain_of_an_unopened_entry_is_unknown(self) -> None:
        main = (await self.client(await self.daemon())).main
        one = make(self.folder / "one.flac", seconds=1)
        items = (await main.load(*[one] * 30)).items
        status = await main.item_status(items[-1])
        self.assertEqual((status.status, status.gain, status.gain_source, status.gain_limited), ("unknown", None, None, None))
        await main.load(str(self.folder / "missing.flac"))
        gain = await main.replay_gain()
        self.assertEqual((gain.gain, gain.source, gain.limited), (None, None, None))

    def test_the_generator_reads_nullable_fields_from_the_schemas(self) -> None:
        status = next(command for command in generator().commands() if command.name == "item.status")
        self.assertEqual([field.wire for field in status.reply if "None" in field.kind], [])
        nullable = {field.wire for field in status.reply if field.nullable}
        self.assertLessEqual({"path", "duration", "gain", "gainSource", "gainLimited"}, nullable)
