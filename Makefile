# Playhead. `make` without arguments lists the targets. Recipes longer than a few lines are in scripts/.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Link everything statically except the C libraries.
RELEASE := -c release --static-swift-stdlib --disable-local-rpath

# An import that Package.swift does not declare is an error.
IMPORTS := --explicit-target-dependency-import-check error

# The default durations of `make fuzz` and `make soak`. Examples: `make fuzz SECONDS=600`, `make soak DURATION=20s`.
SECONDS := 60
DURATION := 10m

# Whether `make soak` also builds and tests time stretching without GPL code. Empty: no.
WITHOUT_GPL := yes

# Whether `make soak` fails if the latency of `ping` exceeds its limit under hostile files. Empty: it only reports the
# latency, for machines with other load.
LATENCY := yes

# The seed of the files and positions that `make soak` selects in the media collection. Example: `make soak SEED=7`.
SEED := 1

# The target folder of `make install`. Example: `make install PREFIX=/usr DESTDIR=/tmp/package`.
PREFIX := /usr/local
DESTDIR :=

.PHONY: help deps bench-deps build-deps deb-deps build release install deb deb-test demo test check docs fmt tsan asan fuzz
.PHONY: bench consumer soak golden clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

deps: ## install missing Debian packages, and check the Swift toolchain
	@scripts/install-deps

bench-deps:
	@scripts/install-deps --bench

build-deps:
	@scripts/install-deps --build

deb-deps:
	@scripts/install-deps --deb

build: deps ## debug build of the library, playheadd and playhead
	scripts/swift-build $(IMPORTS)

release: export PLAYHEAD_ICU_DATA := $(CURDIR)/.build/icu-data.o
release: build-deps ## optimised playheadd and playhead in .build/release
	scripts/icu-data $(PLAYHEAD_ICU_DATA)
	scripts/swift-build $(RELEASE) --product playheadd
	scripts/swift-build $(RELEASE) --product playhead-worker
	scripts/swift-build $(RELEASE) --product playhead

# Does not build, because it may run as root. scripts/install reports a missing build.
install: ## install the release build, completions and manual pages below DESTDIR/PREFIX (/usr/local)
	@PLAYHEAD_PREFIX="$(PREFIX)" scripts/install .build/release "$(DESTDIR)$(PREFIX)"

deb: deb-deps ## build Debian packages in .build/deb from the release build
	@scripts/deb

deb-test: deb ## install, upgrade and remove the packages in a bare Debian 12 below .build
	@scripts/check-deb

demo: deps release ## play two short files and show the main functions
	@demo/run.sh

# Build first: the tests of the daemon start playheadd and playhead from the debug build.
test: deps ## run all tests, or those of one module: make test MODULE=Playback
	scripts/swift-build --build-tests $(IMPORTS)
	@scripts/test $(MODULE)
	@$(if $(MODULE),,clients/test)

check: deps ## check format, imports, scripts, the shell client, the generated Python modules and units
	@scripts/check

docs: deps ## make the documentation of the Swift library in .build/docs; incomplete or invalid comments are errors
	scripts/swift-build $(IMPORTS) --target PlayheadFoundation
	scripts/swift-build $(IMPORTS) --target PlayheadTesting
	@scripts/docs

fmt: ## format the Swift sources in place
	@scripts/format

tsan: deps ## test RealtimeAudio, WireProtocol, ControlLoop, PlayerModel and Playback with the thread sanitizer
	@scripts/sanitize thread RealtimeAudioTests WireProtocolTests ControlLoopTests PlayerModelTests PlaybackTests

asan: deps ## test the modules of tsan, and LibAV, with the address sanitizer
	@scripts/sanitize address RealtimeAudioTests WireProtocolTests LibAVTests ControlLoopTests PlayerModelTests PlaybackTests

fuzz: deps ## fuzz the parsers and the server for SECONDS each (60)
	@scripts/fuzz $(SECONDS)

bench: bench-deps release ## measure this player, mpv and MPD, and print a table
	@scripts/bench

consumer: deps ## build and test the package Examples, which depends on this repository by URL, without caches
	@scripts/check-consumer

soak: deps release ## run long tests for DURATION each (10m): memory, recording, kills, random input, hostile files, media collection
	@scripts/soak $(DURATION)
	@scripts/record-rig soak $(DURATION)
	@scripts/kills --within $(DURATION)
	@scripts/lines --within $(DURATION)
	@scripts/hostile --within $(DURATION) $(if $(LATENCY),,--no-latency)
	@$(if $(WITHOUT_GPL),scripts/without-gpl)
	@scripts/together
	@scripts/make-collection .build/collection
	@scripts/check-media --seed $(SEED) --within $(DURATION) --allow Tests/Collection/known-differences.txt .build/collection

golden: deps ## regenerate the golden dumps and the reference of the protocol; review the diff
	scripts/swift-build --build-tests $(IMPORTS)
	@UPDATE_PROTOCOL_MD=1 PLAYHEAD_UPDATE_GOLDENS=1 scripts/test PlayerModelTests PlaybackTests ProtocolDocumentTests

clean: ## remove all build products
	rm -rf .build
