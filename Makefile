# Playhead. `make` with no argument lists what there is; everything longer than a line is in scripts/.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Everything that the daemon needs at run time but the C libraries is linked in.
RELEASE := -c release --static-swift-stdlib --disable-local-rpath

# How long `make fuzz` and `make soak` take, unless said otherwise: `make fuzz SECONDS=600`, `make soak DURATION=20s`.
SECONDS := 60
DURATION := 10m

# Whether `make soak` also builds and tests what stretches time without code under the GPL. Empty: no.
WITHOUT_GPL := yes

# Where `make install` puts what it installs: `make install PREFIX=/usr DESTDIR=/tmp/package`.
PREFIX := /usr/local
DESTDIR :=

.PHONY: help deps bench-deps build release install demo test check fmt tsan asan fuzz bench consumer soak golden clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

deps: ## install the Debian packages that are missing, and check the Swift toolchain
	@scripts/install-deps

bench-deps:
	@scripts/install-deps --bench

build: deps ## debug build of the library, playheadd and playhead
	swift build

release: deps ## optimised playheadd and playhead in .build/release
	swift build $(RELEASE) --product playheadd
	swift build $(RELEASE) --product playheadd-toml
	swift build $(RELEASE) --product playhead-worker
	swift build $(RELEASE) --product playhead
	swift build $(RELEASE) --product PlayheadTags

# Builds nothing: who installs is root perhaps. scripts/install says when there is nothing to install.
install: ## install what `make release` built, completions and manual pages below DESTDIR/PREFIX (/usr/local)
	@PLAYHEAD_PREFIX="$(PREFIX)" scripts/install .build/release "$(DESTDIR)$(PREFIX)"

demo: release ## play two short files and show what the engine does
	@demo/run.sh

# The tests of the daemon start playheadd and playhead from the debug build: both are built first.
test: deps ## every test, or those of one module: make test MODULE=Playback
	swift build --build-tests
	@scripts/test $(MODULE)
	@$(if $(MODULE),,clients/test)

check: deps ## check the text: format, imports, scripts, the shell client, the generated Python modules, units
	@scripts/check

fmt: ## format the Swift sources in place
	@scripts/format

tsan: deps ## RealtimeAudio, WireProtocol and Playback under the thread sanitizer
	@scripts/sanitize thread RealtimeAudioTests WireProtocolTests PlaybackTests

asan: deps ## the same and what touches C, under the address sanitizer
	@scripts/sanitize address RealtimeAudioTests WireProtocolTests LibAVTests PlaybackTests

fuzz: deps ## fuzz the parsers and the server for SECONDS each (60)
	@scripts/fuzz $(SECONDS)

bench: bench-deps release ## measure this player, mpv and MPD side by side, and print a table
	@scripts/bench

consumer: deps ## build a program that depends on this repository by URL, from clean, and run it
	@scripts/check-consumer

soak: release ## long tests: play for DURATION (10m) and watch memory and descriptors; record; kill the daemon 50 times; random lines; hostile files and servers; check a collection of media files
	@scripts/soak $(DURATION)
	@scripts/record-rig soak $(DURATION)
	@scripts/kills --within $(DURATION)
	@scripts/lines --within $(DURATION)
	@scripts/hostile --count 1000 --within $(DURATION)
	@$(if $(WITHOUT_GPL),scripts/without-gpl)
	@scripts/together
	@scripts/make-collection .build/collection
	@scripts/check-media --within $(DURATION) --allow Tests/Collection/known-differences.txt .build/collection

golden: deps ## write the golden dumps and protocol.md's tables anew; look at the difference
	UPDATE_PROTOCOL_MD=1 PLAYHEAD_UPDATE_GOLDENS=1 swift test --filter 'PlaybackTests|ProtocolDocumentTests'

clean: ## remove everything that was built
	rm -rf .build
