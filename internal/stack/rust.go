package stack

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/nexus-ai-builder/nexus/internal/stack/gosource"
	"github.com/nexus-ai-builder/nexus/internal/stack/licencename"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/lint"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/testrunners"
)

func rustStack() Stack {
	return Stack{
		Name: "rust", Skeleton: rustSkeleton(), Markers: []string{"Cargo.toml"},
		Syntax:  rustSyntax,
		Counts:  []string{"cargo test"},
		Sources: rustSources,
		Names:   rustPackageNaming,
		covers:  func(outer packageInspector, rel, _ string) bool { return outer.isWorkspaceCrate(rel) },
		Tests: LanguageTestSyntax{
			Weak:     `is_ok\(\)|is_some\(\)`,
			Swallows: `\bstd::process::exit\(0\)|^-\s*cargo test`,
			Quiets:   `#!?\[allow\(`,
			Inverts:  `#\[should_panic`,
			Ends:     []string{".rs"}, Inside: true,
			Declares: `#\[(?:\w+::)?test[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub )?(?:async )?fn (\w+)`,
			Skips:    `#\[ignore`,
			Asserts:  `\b(?:debug_)?assert(?:_eq|_ne|_matches)?!|should_panic|\.unwrap_err\(`,
			Only:     true,
		},
		Configs: []CheckConfigPatterns{
			{
				Files:   []string{"cargo.toml", ".cargo/config.toml"},
				Runs:    `^\[\[test\]\]|^harness\b|^autotests\b|^(?:doc)?test\s*=`,
				Narrows: `^(?:autotests|harness|(?:doc)?test)\s*=\s*false`,
				Loads:   `^\s*(?:runner|rustc-wrapper|rustc)\s*=|^\[(?:patch|replace)\b`,
			},
			{Files: []string{"clippy.toml"}},
		},
		Programs: splitWords("cargo rustc"),
		Environment: ToolEnvironment{
			Offline: splitWords("CARGO_NET_OFFLINE=true"), Trusts: splitWords("CARGO_HTTP_CAINFO"), HomeBins: splitWords(".cargo"),
			Shows:     []UserToolDirectory{{Var: "RUSTUP_HOME", At: splitWords("$RUSTUP_HOME $HOME/.rustup")}},
			Unreached: []string{`you're using offline mode`, "could not find `[^`]+` in registry `crates-io`"},
		},
		Namings: func() []TestNameConverter {
			return []TestNameConverter{verbatimNaming(NameExact), {NameNextest, testrunners.NextestTestArgument}}
		},
		Running:      func() []RunningTestFinder { return []RunningTestFinder{{"cargo-test", testrunners.RunningCargoTest}} },
		Hosts:        []RegistryHosts{{"crates", splitWords("index.crates.io static.crates.io crates.io")}},
		Servers:      []LanguageServer{{Name: "rust-analyzer", Commands: [][]string{{"rust-analyzer"}}, Ends: []string{".rs"}, Watch: splitWords("Cargo.toml Cargo.lock"), Options: `{"checkOnSave":false}`}},
		Written:      []string{"cargo.lock"},
		CommandRules: rustCommandRules,
		Outlines:     rustOutlines,
		Listings:     []PackageListFormat{{[]string{"Cargo.lock"}, tomlPackageReader(KindRust)}},
		Stores: []PackageDownloadCache{
			{Name: "cargo", Tools: []string{"cargo"}, Home: ".cargo/registry", Below: "registry", Var: "CARGO_HOME"},
			{Name: "cargo-git", Tools: []string{"cargo"}, Home: ".cargo/git", Below: "git", Var: "CARGO_HOME"},
		},
		Licences: []LicenceFinder{{KindRust, rustLicence}},
		Formats:  rustFormats,
		Steps: func() []PackageCheckCommand {
			return []PackageCheckCommand{
				{Gate: "build", Args: []string{"cargo", "build", "--offline", "--workspace", "--all-targets", "--message-format=json"}, Format: "cargo"},
				{Gate: "lint", Args: []string{"cargo", "clippy", "--offline", "--workspace", "--all-targets", "--message-format=json"}, Format: "cargo"},
				{Gate: "test", If: "file:.config/nextest.toml", Args: []string{"cargo", "nextest", "run", "--offline", "--workspace", "--no-fail-fast"}, Format: "cargo-test", Tests: true, Related: []PartialTestCommand{{By: "rust", Args: []string{"cargo", "nextest", "run", "--offline", "--no-fail-fast", "{crates}"}}}, Alone: []SingleTestCommand{{Name: NameNextest, Args: []string{"cargo", "nextest", "run", "--offline", "--workspace", "--no-fail-fast", "--retries=0", "-E", "{test}"}}}, Cover: rustCoverageCommands()},
				{Gate: "test", Args: []string{"cargo", "test", "--offline", "--workspace", "--no-fail-fast"}, Format: "cargo-test", Tests: true, Related: []PartialTestCommand{{By: "rust", Args: []string{"cargo", "test", "--offline", "--no-fail-fast", "{crates}"}}}, Alone: []SingleTestCommand{{Name: NameExact, Args: []string{"cargo", "test", "--offline", "--workspace", "--no-fail-fast", "--", "--exact", "{test}"}}}, Cover: rustCoverageCommands()},
			}
		},
	}
}

func rustCoverageCommands() []CoverageCommand {
	const line = `if command -v cargo-llvm-cov >/dev/null; then
  cargo llvm-cov --offline --workspace --lcov --output-path "$d/lcov.info" >&2 || exit
elif command -v cargo-tarpaulin >/dev/null; then
  cargo tarpaulin --offline --workspace --out Lcov --output-dir "$d" >&2 || exit
else
  lack cargo-llvm-cov "cargo install cargo-llvm-cov"
fi
show "$d/lcov.info"`
	return []CoverageCommand{{Name: "cargo llvm-cov or tarpaulin", Format: "lcov", Args: coverageShellCommand(line)}}
}

// isWorkspaceCrate reports whether the workspace of a crate includes one below it. Without a workspace it
// includes none. A crate that is neither included nor excluded cannot be built.
func (p packageInspector) isWorkspaceCrate(rel string) bool {
	type workspace struct {
		Workspace *struct{ Exclude []string }
	}
	read := func(dir string) (w workspace) {
		inner := p
		inner.dir = path.Join(p.dir, dir)
		_ = toml.Unmarshal([]byte(inner.readText("Cargo.toml")), &w) // an unreadable file names nothing
		return w
	}
	root := read(".").Workspace
	return root != nil && read(rel).Workspace == nil && !slices.ContainsFunc(root.Exclude, func(out string) bool {
		out = path.Clean(out)
		return rel == out || strings.HasPrefix(rel, out+"/")
	})
}

// rustSources describes how crates depend on each other: one names another in its manifest. In
// the words of a PartialTestCommand, {crates} is replaced by -p and the name of each crate.
func rustSources() []SourceDependencyRules {
	return []SourceDependencyRules{{
		Name: "rust", Mine: func(file string) bool { return path.Ext(file) == ".rs" },
		Units: func(tree fs.FS, files []string) []TestPackage {
			title := regexp.MustCompile(`(?m)^\[package\](?:\n[^\[]*?)?\nname\s*=\s*"([^"]+)"`)
			var all []TestPackage
			for _, f := range files {
				if path.Base(f) != "Cargo.toml" {
					continue
				}
				text := strings.ReplaceAll(gosource.ReadRegularFile(tree, f), "\r\n", "\n")
				if m := title.FindStringSubmatch(text); m != nil {
					all = append(all, TestPackage{Name: m[1], Dir: path.Dir(f), Needs: func(name string) bool {
						name = regexp.QuoteMeta(name)
						return regexp.MustCompile(`(?m)^(?:\[[\w.'"()=\- ]*dependencies\.)?"?` + name + `"?\s*[\].=]|package\s*=\s*"` + name + `"`).MatchString(text)
					}})
				}
			}
			return all
		},
		Words: func(_ fs.FS, _, word string, tests []string) ([]string, bool) {
			if word != "{crates}" {
				return nil, false
			}
			var words []string
			for _, name := range tests {
				words = append(words, "-p", name)
			}
			return words, true
		},
	}}
}

// rustFormats returns the output formats of its tools.
func rustFormats() []outputparser.OutputFormat {
	return []outputparser.OutputFormat{
		{Name: "cargo", About: "cargo build, check and clippy, and rustc: text or JSON", Warns: true, Commands: []string{"cargo build", "cargo check", "cargo clippy", "cargo b", "cargo c", "rustc"}, Marks: `"reason":"(?:compiler|build)-|(?m)^(?:error|warning)(?:\[\w+\])?: .*\n\s*--> `, Well: `^\s+Finished `, Read: lint.ReadCargo},
		{Name: "cargo-test", About: "cargo test and cargo nextest", Tests: true, Commands: []string{"cargo test", "cargo nextest", "cargo t"}, Marks: `(?m)^test result: \w+\. \d+ passed|^running \d+ tests?$|^\s+Summary \[ *[\d.]+s\] `, Over: `^\s+Summary \[ *[\d.]+s\] `, Read: testrunners.ReadCargo},
	}
}

// rustOutlines returns the declaration patterns of its files.
func rustOutlines() []OutlinePatterns {
	return []OutlinePatterns{
		{Name: "Rust", Ends: []string{".rs"}, Tests: []string{"*_test.rs"}, Declares: []string{"pub fn ", "pub async fn ", "pub unsafe fn ", "pub const fn ", "pub struct ", "pub enum ", "pub trait ", "pub type ", "pub mod ", "pub const ", "pub static ", "pub union ", "pub macro ", "impl ", "impl<", "macro_rules! "}, Imports: []string{"use ", "pub use ", "mod ", "pub mod "}, Between: "::", Stands: []string{"mod", "lib"}, Tail: "#[cfg(test)]"},
	}
}

// rustCommandRules are rows about the commands of its tools; see [Stack.CommandRules].
const rustCommandRules = `
read  | cargo | publish | --dry-run -n
deny  | publish  | cargo | publish login logout owner yank release workspaces:publish
ask   | deps.new | cargo | add install binstall update | + !--path
ask   | deps.new | rustup | install update default toolchain target component self
allow | build    | cargo | build b check c test t clippy fmt doc tree metadata bench | !--config !-C !--manifest-path !-Z
`

// rustLicence reads the Cargo.toml of a vendored crate, or of one that Cargo has
// unpacked.
func rustLicence(p PackageSearchPaths, k ListedPackage) string {
	var dirs []string
	for _, t := range p.Trees {
		dirs = append(dirs, path.Join(t, "vendor", k.Name), path.Join(t, "vendor", k.Name+"-"+k.Version))
	}
	if home := p.firstDirectory(p.lookupEnv("CARGO_HOME"), ".cargo"); home != "" {
		dirs = append(dirs, p.matchingPaths(path.Join(home, "registry", "src", "*", k.Name+"-"+k.Version))...)
	}
	for _, dir := range dirs {
		text := p.readText(dir, "Cargo.toml")
		version := regexp.MustCompile(`(?m)^version\s*=\s*"([^"]*)"`).FindStringSubmatch(text)
		if version != nil && version[1] != k.Version {
			continue
		}
		if m := regexp.MustCompile(`(?m)^license\s*=\s*"([^"]*)"`).FindStringSubmatch(text); m != nil {
			return licencename.ExpressionFor(m[1])
		}
		if l := p.licenceInText(dir); l != "" {
			return l
		}
	}
	return ""
}

// rustSyntax returns the syntax of its files. An apostrophe does not always begin a literal.
func rustSyntax() []SourceSyntax {
	s := braceSyntax([]string{".rs"}, LineMutations{Calls: true, Nothing: ";"}).withExports(rustExports).
		withFunctionHeads(`^\s*(?:pub(?:\([^)]*\))? )?(?:(?:default|const|async|unsafe|extern(?: "[^"]*")?) )*fn (\w+)[<(]`)
	s.Quotes = `"`
	return []SourceSyntax{s}
}

// rustExports matches the names that its files export.
const rustExports = `(?m)^\s*pub(?:\([^)]*\))?\s+(?:(?:async|unsafe|const|extern "C") )*(?:fn|struct|enum|trait|type|const|static|mod|union)\s+(\w+)|^\s*macro_rules!\s+(\w+)`

// rustSkeleton returns a program that greets, with its test; it needs no packages.
func rustSkeleton() ProjectSkeleton {
	return ProjectSkeleton{
		Needs: splitWords("cargo cargo-clippy"), Named: splitWords("rust cargo"),
		Fits: splitWords("fast performance embedded parser engine memory wasm safe"), For: "what must be fast and sparing",
		Files: []SkeletonFile{
			{".gitignore", "/target\n"},
			{"README.md", "# {name}\n\n    cargo run\n    cargo test\n"},
			{"Cargo.toml", "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\n"},
			{"Cargo.lock", "# This file is automatically @generated by Cargo.\n# It is not intended for manual editing.\nversion = 3\n\n[[package]]\nname = \"{name}\"\nversion = \"0.1.0\"\n"},
			{"src/main.rs", "/// Returns what the program says.\nfn greeting() -> &'static str {\n    \"Hello from {name}\"\n}\n\nfn main() {\n    println!(\"{}\", greeting());\n}\n\n#[cfg(test)]\nmod tests {\n    use super::greeting;\n\n    #[test]\n    fn names_the_project() {\n        assert_eq!(greeting(), \"Hello from {name}\");\n    }\n}\n"},
		},
	}
}
