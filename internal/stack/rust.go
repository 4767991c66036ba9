package stack

import (
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/nexus-ai-builder/nexus/internal/stack/read"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/lint"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/suite"
)

func rust() Stack {
	return Stack{
		Name: "rust", Markers: []string{"Cargo.toml"},
		covers:  func(outer project, rel, _ string) bool { return outer.crate(rel) },
		Formats: rustFormats(),
		Steps: []Step{
			{Gate: "build", Args: []string{"cargo", "build", "--offline", "--workspace", "--all-targets", "--message-format=json"}, Format: "cargo"},
			{Gate: "lint", Args: []string{"cargo", "clippy", "--offline", "--workspace", "--all-targets", "--message-format=json"}, Format: "cargo"},
			{Gate: "test", If: "file:.config/nextest.toml", Args: []string{"cargo", "nextest", "run", "--offline", "--workspace", "--no-fail-fast"}, Format: "cargo-test", Tests: true, Related: []Part{{By: ByCrate, Args: []string{"cargo", "nextest", "run", "--offline", "--no-fail-fast", "{crates}"}}}, Alone: []Lone{{Name: NameNextest, Args: []string{"cargo", "nextest", "run", "--offline", "--workspace", "--no-fail-fast", "--retries=0", "-E", "{test}"}}}, Cover: rustCover()},
			{Gate: "test", Args: []string{"cargo", "test", "--offline", "--workspace", "--no-fail-fast"}, Format: "cargo-test", Tests: true, Related: []Part{{By: ByCrate, Args: []string{"cargo", "test", "--offline", "--no-fail-fast", "{crates}"}}}, Alone: []Lone{{Name: NameExact, Args: []string{"cargo", "test", "--offline", "--workspace", "--no-fail-fast", "--", "--exact", "{test}"}}}, Cover: rustCover()},
		},
	}
}

func rustCover() []Cover {
	const line = `if command -v cargo-llvm-cov >/dev/null; then
  cargo llvm-cov --offline --workspace --lcov --output-path "$d/lcov.info" >&2 || exit
elif command -v cargo-tarpaulin >/dev/null; then
  cargo tarpaulin --offline --workspace --out Lcov --output-dir "$d" >&2 || exit
else
  lack cargo-llvm-cov "cargo install cargo-llvm-cov"
fi
show "$d/lcov.info"`
	return []Cover{{Name: "cargo llvm-cov or tarpaulin", Format: "lcov", Args: measured(line)}}
}

// crate reports whether the workspace of a crate has one below it. Without a
// workspace it has none; one that is neither in it nor out of it nobody can build.
func (p project) crate(rel string) bool {
	type workspace struct {
		Workspace *struct{ Exclude []string }
	}
	read := func(dir string) (w workspace) {
		inner := p
		inner.dir = path.Join(p.dir, dir)
		_ = toml.Unmarshal([]byte(inner.read("Cargo.toml")), &w) // what cannot be read says nothing
		return w
	}
	root := read(".").Workspace
	return root != nil && read(rel).Workspace == nil && !slices.ContainsFunc(root.Exclude, func(out string) bool {
		out = path.Clean(out)
		return rel == out || strings.HasPrefix(rel, out+"/")
	})
}

// rustFormats are what its tools print.
func rustFormats() []read.Format {
	return []read.Format{
		{Name: "cargo", About: "cargo build, check and clippy, and rustc: text or JSON", Warns: true, Commands: []string{"cargo build", "cargo check", "cargo clippy", "cargo b", "cargo c", "rustc"}, Marks: `"reason":"(?:compiler|build)-|(?m)^(?:error|warning)(?:\[\w+\])?: .*\n\s*--> `, Well: `^\s+Finished `, Read: lint.Cargo},
		{Name: "cargo-test", About: "cargo test and cargo nextest", Tests: true, Commands: []string{"cargo test", "cargo nextest", "cargo t"}, Marks: `(?m)^test result: \w+\. \d+ passed|^running \d+ tests?$|^\s+Summary \[ *[\d.]+s\] `, Over: `^\s+Summary \[ *[\d.]+s\] `, Read: suite.Cargo},
	}
}
