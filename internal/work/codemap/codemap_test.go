package codemap_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/work/codemap"
)

func TestDetect(t *testing.T) {
	type files = map[string]string
	for _, tt := range []struct {
		name  string
		files files
		want  codemap.Stack
	}{
		{"nothing", nil, codemap.Stack{Commands: files{}}},
		{"go", files{"go.mod": "module x\n"}, codemap.Stack{
			Languages: []string{"Go"}, TestFramework: "go test",
			Commands: files{"build": "go build ./...", "lint": "go vet ./...", "test": "go test ./..."},
		}},
		{"go and node", files{"go.mod": "module x\n", "package.json": `{"scripts":{"test":"vitest run","lint":"eslint ."}}`, "tsconfig.json": "{}", "pnpm-lock.yaml": ""}, codemap.Stack{
			Languages: []string{"Go", "TypeScript"}, TestFramework: "go test",
			Commands: files{
				"build": "go build ./...", "lint": "go vet ./...", "test": "go test ./...",
				"typescript-lint": "pnpm run lint", "typescript-test": "pnpm run test",
			},
		}},
		{"node without tests", files{"package.json": `{"scripts":{"test":"echo \"Error: no test specified\" && exit 1","build":"tsc","typecheck":"tsc --noEmit"},"devDependencies":{"jest":"30"}}`}, codemap.Stack{
			Languages: []string{"JavaScript"}, TestFramework: "jest",
			Commands: files{"build": "npm run build", "type": "npm run typecheck"},
		}},
		{"broken package.json", files{"package.json": "{"}, codemap.Stack{Languages: []string{"JavaScript"}, Commands: files{}}},
		{"python", files{"pyproject.toml": "[tool.pytest.ini_options]\n[tool.ruff]\n[tool.mypy]\n", "uv.lock": ""}, codemap.Stack{
			Languages: []string{"Python"}, TestFramework: "pytest",
			Commands: files{"test": "uv run python -m pytest", "lint": "uv run ruff check .", "type": "uv run mypy ."},
		}},
		{"rust", files{"Cargo.toml": ""}, codemap.Stack{
			Languages: []string{"Rust"}, TestFramework: "cargo test",
			Commands: files{"build": "cargo build --all-targets", "lint": "cargo clippy --all-targets -- -D warnings", "test": "cargo test"},
		}},
		{"make alone", files{"Makefile": "CC := x\nbuild test: deps\n\tlint: no\n# lint: no\nall:\n"}, codemap.Stack{
			Commands: files{"build": "make build", "test": "make test"},
		}},
		{"make fills gaps", files{"Makefile": "lint:\n\techo\ntest:\n", "requirements.txt": "flask\n"}, codemap.Stack{
			Languages: []string{"Python"}, TestFramework: "unittest",
			Commands: files{"lint": "make lint", "test": "python -m unittest"},
		}},
		{"dotnet", files{"App.csproj": ""}, codemap.Stack{
			Languages: []string{"C#"}, TestFramework: "dotnet test", Commands: files{"build": "dotnet build", "test": "dotnet test"},
		}},
		{"second language", files{"go.mod": "module x\n", "x.sln": ""}, codemap.Stack{
			Languages: []string{"Go", "C#"}, TestFramework: "go test",
			Commands: files{
				"build": "go build ./...", "lint": "go vet ./...", "test": "go test ./...",
				"csharp-build": "dotnet build", "csharp-test": "dotnet test",
			},
		}},
		{"gradle", files{"build.gradle.kts": "", "gradlew": "", "src/main/kotlin/x.kt": ""}, codemap.Stack{
			Languages: []string{"Kotlin"}, TestFramework: "gradle",
			Commands: files{"build": "./gradlew --offline assemble", "test": "./gradlew --offline test"},
		}},
		{"ruby", files{"Gemfile": "", "spec/x_spec.rb": "", ".rubocop.yml": ""}, codemap.Stack{
			Languages: []string{"Ruby"}, TestFramework: "rspec",
			Commands: files{"test": "bundle exec rspec", "lint": "bundle exec rubocop"},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range tt.files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(tt.want, codemap.Detect(dir)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestHostileMarkers looks at files that would block or lead elsewhere.
func TestHostileMarkers(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "package.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "go.mod")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "Cargo.toml"), 0o700); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(codemap.Stack{Commands: map[string]string{}}, codemap.Detect(dir)); d != "" {
		t.Error(d)
	}
	if s := codemap.Detect(filepath.Join(dir, "nowhere")); len(s.Languages) != 0 {
		t.Errorf("a directory that is not there: %+v", s)
	}
}
