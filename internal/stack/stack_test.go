package stack_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
)

func tree(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		name, text, _ := strings.Cut(f, "=")
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// pom is a plugin of Maven that runs a goal.
func pom(plugin, goal string) string {
	return "<plugin><artifactId>" + plugin + "</artifactId><executions><execution><goals><goal>" + goal + "</goal></goals></execution></executions></plugin>"
}

func TestFind(t *testing.T) {
	for name, tt := range map[string]struct {
		files []string
		want  []string
	}{
		"nothing":      {files: []string{"README.md="}},
		"node scripts": {files: []string{`package.json={"scripts":{"build":"x","lint":"eslint .","test":"vitest run","typecheck":"tsc"}}`}, want: []string{"build: npm run --silent build (exit)", "type: npm run --silent typecheck (exit)", "lint: npm run --silent lint (exit)", "test: npm run --silent test (exit)"}},
		"npm's own test": {
			files: []string{`package.json={"scripts":{"test":"echo \"Error: no test specified\" && exit 1"},"devDependencies":{"vitest":"4"}}`, "tsconfig.json={}", "eslint.config.js=", ".prettierrc={}"},
			want:  []string{"type: npx --no-install tsc --noEmit --pretty false (tsc)", "lint: npx --no-install eslint --format json . (eslint)", "format: npx --no-install prettier --check . (prettier)", "test: npx --no-install vitest run --reporter=default (vitest)"},
		},
		"pnpm":                          {files: []string{`package.json={"devDependencies":{"jest":"30"}}`, "pnpm-lock.yaml="}, want: []string{"test: pnpm exec jest (jest)"}},
		"bun":                           {files: []string{`package.json={"scripts":{"build":"x"},"devDependencies":{"typescript":"7"}}`, "bun.lock=", "tsconfig.json={}", "src/deep/a_spec.tsx="}, want: []string{"build: bun run --silent build (exit)", "type: bunx --no-install tsc --noEmit --pretty false (tsc)", "test: bun test (bun)"}},
		"bun installs, vitest runs":     {files: []string{`package.json={"devDependencies":{"vitest":"4"}}`, "bun.lockb=", "a.test.ts="}, want: []string{"test: bunx --no-install vitest run --reporter=default (vitest)"}},
		"playwright beside vitest":      {files: []string{`package.json={"scripts":{"test":"vitest run"},"devDependencies":{"vitest":"4","@playwright/test":"1"}}`, "playwright.config.ts="}, want: []string{"test: npm run --silent test (exit)", "e2e: npx --no-install playwright test --reporter=list (playwright)"}},
		"playwright alone":              {files: []string{`package.json={"scripts":{"test":"echo \"no test specified\""},"devDependencies":{"@playwright/test":"1"}}`, "playwright.config.ts="}, want: []string{"test: npx --no-install playwright test --reporter=list (playwright)"}},
		"the script is playwright":      {files: []string{`package.json={"scripts":{"test":"playwright test"},"devDependencies":{"@playwright/test":"1"}}`, "playwright.config.ts="}, want: []string{"test: npm run --silent test (exit)"}},
		"bun without tests":             {files: []string{`package.json={}`, "bun.lock=", "latest.ts="}},
		"a script is bun test":          {files: []string{`package.json={"scripts":{"test":"bun test"}}`, "bunfig.toml="}, want: []string{"test: npm run --silent test (exit)"}},
		"node:test":                     {files: []string{`package.json={}`, "a.test.mjs="}, want: []string{"test: node --test --test-reporter=tap (tap)"}},
		"broken json":                   {files: []string{`package.json={`}},
		"python":                        {files: []string{"pyproject.toml=[tool.pytest.ini_options]\n[tool.ruff]\n[tool.mypy]\n", "uv.lock="}, want: []string{"lint: uv run --no-sync ruff check --no-cache --output-format=json (ruff)", "type: uv run --no-sync mypy --cache-dir=/dev/null --show-column-numbers --show-error-end --show-error-codes . (mypy)", "test: uv run --no-sync pytest -p no:cacheprovider (pytest)"}},
		"unittest":                      {files: []string{"setup.py=", "tests/test_a.py=", ".flake8="}, want: []string{"lint: flake8 (flake8)", "test: python3 -m unittest discover -v -s tests (unittest)"}},
		"tox changes the directory":     {files: []string{"setup.py=", "tox.ini=[testenv]\nchangedir = t\ncommands = python -m unittest\n", "t/test_a.py="}, want: []string{"test: sh -c cd t && python3 -m unittest (unittest)"}},
		"tox makes the directory":       {files: []string{"setup.py=", "tox.ini=[testenv]\nchangedir = .tox\ncommands = python -m unittest\n", "tests/test_a.py="}, want: []string{"test: python3 -m unittest discover -v -s tests (unittest)"}},
		"tests lie elsewhere":           {files: []string{"setup.py=", "src/m/checks/test_a.py=import unittest\n", "src/m/checks/deep/test_b.py="}, want: []string{"test: python3 -m unittest discover -v -s src/m/checks (unittest)"}},
		"python without a manifest":     {files: []string{"x.py=", "test_x.py=import unittest\n\nclass T(unittest.TestCase):\n    def test_x(self):\n        pass\n"}, want: []string{"test: python3 -m unittest discover -v (unittest)"}},
		"functions of pytest alone":     {files: []string{"x.py=", "test_x.py=import x\n\ndef test_x():\n    assert x\n"}, want: []string{"test: pytest -p no:cacheprovider (pytest)"}},
		"functions beside requirements": {files: []string{"requirements.txt=", "tests/test_x.py=def test_x():\n    pass\n"}, want: []string{"test: pytest -p no:cacheprovider (pytest)"}},
		"tests that are no package":     {files: []string{"setup.py=", "tests/__init__.py=", "tests/test_x.py=import unittest\n"}, want: []string{"test: python3 -m unittest discover -v (unittest)"}},
		"unittest of another name":      {files: []string{"x.py=", "x_test.py=import unittest\nclass TestX(unittest.TestCase):\n    pass\n"}, want: []string{"test: python3 -m unittest discover -v -s . -p *_test.py (unittest)"}},
		"a script that is no test":      {files: []string{"test_connection.py=print(1)\n"}},
		"samples of python":             {files: []string{"README.md=", "examples/test_x.py=def test_x():\n    pass\n"}},
		"python beside Go":              {files: []string{"go.mod=", "test_x.py=def test_x():\n    pass\n"}, want: []string{"build: go build ./... (go-build)", "lint: go vet ./... (go-vet)", "test: go test -json -count=1 ./... (go-test-json)"}},
		"python beside a Makefile":      {files: []string{"Makefile=check:\n\ttrue\n", "test_x.py=def test_x():\n    pass\n"}, want: []string{"test: make check (exit)"}},
		"python below, marked there":    {files: []string{"api/pyproject.toml=pytest", "api/test_x.py=def test_x():\n    pass\n"}, want: []string{"test-api: pytest -p no:cacheprovider (pytest) in api"}},
		"node without a manifest":       {files: []string{"x.js=", "x.test.js=import test from 'node:test'\ntest('x', () => {})\n"}, want: []string{"test: node --test --test-reporter=tap (tap)"}},
		"ruby without a manifest":       {files: []string{"x.rb=", "spec/x_spec.rb=describe 'x' do\nend\n"}, want: []string{"test: rspec (rspec)"}},
		"tests of pytest lie elsewhere": {files: []string{"setup.py=", "src/m/a_test.py=import pytest\n"}, want: []string{"test: pytest -p no:cacheprovider (pytest)"}},
		"a Makefile beside":             {files: []string{"setup.py=", ".flake8=", "Makefile=unit-test:\n\ttrue\n"}, want: []string{"lint: flake8 (flake8)", "test: make unit-test (exit)"}},
		"Maven and Gradle":              {files: []string{"pom.xml=", "build.gradle="}, want: []string{"build: mvn -B -o -ntp test-compile (maven)", "test: mvn -B -o -ntp -fae test (maven-test)"}},
		"a workspace judges its members": {files: []string{"Cargo.toml=[workspace]\nmembers = [\"a\", \"b/*\"]", "a/Cargo.toml=", "b/c/Cargo.toml="}, want: []string{
			"build: cargo build --offline --workspace --all-targets --message-format=json (cargo)", "lint: cargo clippy --offline --workspace --all-targets --message-format=json (cargo)", "test: cargo test --offline --workspace --no-fail-fast (cargo-test)",
		}},
		"packages":                         {files: []string{"go.mod=", `web/package.json={"scripts":{"test":"jest"}}`, "tools/py/pyproject.toml=pytest", "node_modules/x/package.json={\"scripts\":{\"test\":\"x\"}}"}, want: []string{"build: go build ./... (go-build)", "lint: go vet ./... (go-vet)", "test: go test -json -count=1 ./... (go-test-json)", "test-web: npm run --silent test (exit) in web", "test-tools-py: pytest -p no:cacheprovider (pytest) in tools/py"}},
		"beside another":                   {files: []string{"go.mod=", `package.json={"scripts":{"test":"jest"}}`}, want: []string{"build: go build ./... (go-build)", "lint: go vet ./... (go-vet)", "test: go test -json -count=1 ./... (go-test-json)", "test-node: npm run --silent test (exit)"}},
		"make alone":                       {files: []string{"Makefile=all:\n\ntest: all\n", "a.c="}, want: []string{"build: make (gcc)", "test: make test (exit)"}},
		"make beside Go":                   {files: []string{"go.mod=", "Makefile=test:\n", "run.sh="}, want: []string{"build: go build ./... (go-build)", "lint: go vet ./... (go-vet)", "test: go test -json -count=1 ./... (go-test-json)"}},
		"shell":                            {files: []string{"run.sh=", ".shellcheckrc="}, want: []string{"lint: sh -c find . -name '*.sh' -not -path '*/.*/*' -not -path '*/node_modules/*' -print0 | xargs -0 -r shellcheck -f json1 (shellcheck)"}},
		"a script is no wish for a linter": {files: []string{"run.sh="}},
		"ruby":                             {files: []string{"Gemfile=", "Gemfile.lock=", "spec/a_spec.rb=", ".rubocop.yml="}, want: []string{"lint: bundle exec rubocop --format json --cache false (rubocop)", "test: bundle exec rspec (rspec)"}},
		"gradle":                           {files: []string{"build.gradle.kts=", "gradlew="}, want: []string{"build: ./gradlew --offline --no-daemon --console=plain testClasses (maven)", "test: ./gradlew --offline --no-daemon --console=plain --info --no-build-cache cleanTest test --continue (gradle-test)"}},
		"linters of PHP": {files: []string{"composer.json={}", "phpstan.neon=", "phpcs.xml.dist=", "psalm.xml="}, want: []string{
			"build: sh -c find . -name '*.php' -not -path './vendor/*' -print0 | xargs -0 -r -n1 php -l (php)", "lint: vendor/bin/phpstan analyse --error-format=json --no-progress (phpstan)",
			"lint-phpcs: vendor/bin/phpcs -q --report=checkstyle (checkstyle-xml)", "lint-psalm: vendor/bin/psalm --no-progress --no-cache --output-format=checkstyle (checkstyle-xml)",
		}},
		"linters of Maven": {files: []string{"pom.xml=" + pom("maven-pmd-plugin", "check") + pom("spotbugs-maven-plugin", "check") + pom("spotless-maven-plugin", "apply") + "<modules><module>a</module></modules>", "a/pom.xml=" + pom("maven-pmd-plugin", "check")}, want: []string{
			"build: mvn -B -o -ntp test-compile (maven)", "lint-pmd: mvn -B -o -ntp pmd:check (maven)", "lint-spotbugs: mvn -B -o -ntp test-compile spotbugs:check (maven)",
			"format: mvn -B -o -ntp spotless:check (maven)", "test: mvn -B -o -ntp -fae test (maven-test)",
		}},
		"reports of Maven": {files: []string{"pom.xml=<reporting>" + pom("spotbugs-maven-plugin", "check") + "</reporting><!--" + pom("spotless-maven-plugin", "check") + "-->" + pom("maven-pmd-plugin", "pmd")}, want: []string{
			"build: mvn -B -o -ntp test-compile (maven)", "test: mvn -B -o -ntp -fae test (maven-test)",
		}},
		"the default goal of Maven": {files: []string{"pom.xml=<defaultGoal>clean verify pmd:check</defaultGoal><reporting>" + pom("maven-pmd-plugin", "") + "</reporting>"}, want: []string{
			"build: mvn -B -o -ntp test-compile (maven)", "lint-pmd: mvn -B -o -ntp pmd:check (maven)", "test: mvn -B -o -ntp -fae test (maven-test)",
		}},
		"Spotless within Gradle": {files: []string{"build.gradle=plugins { id 'com.diffplug.spotless' }", "settings.gradle=include 'a'", "a/build.gradle="}, want: []string{
			"build: gradle --offline --no-daemon --console=plain testClasses (maven)", "format: gradle --offline --no-daemon --console=plain spotlessCheck (maven)",
			"test: gradle --offline --no-daemon --console=plain --info --no-build-cache cleanTest test --continue (gradle-test)",
		}},
		"members with tests, the root without": {files: []string{`package.json={"scripts":{"build":"x"}}`, "pnpm-lock.yaml=", "pnpm-workspace.yaml=packages: [packages/*]\n", `packages/a/package.json={"scripts":{"build":"y","test":"vitest run"}}`, `packages/b/package.json={"devDependencies":{"jest":"30"}}`}, want: []string{
			"build: npm run --silent build (exit)", "test-packages-a: npm run --silent test (exit) in packages/a", "test-packages-b: pnpm exec jest (jest) in packages/b",
		}},
		"a script checks the format":    {files: []string{`package.json={"scripts":{"format":"oxfmt --check"}}`}, want: []string{`format: sh -c PATH="$PWD/node_modules/.bin:$PATH"; oxfmt --check (exit)`}},
		"a script writes the format":    {files: []string{`package.json={"scripts":{"format":"oxfmt"}}`}},
		"rake runs the specs":           {files: []string{"a.gemspec=", "test/test.rb=", "Rakefile=task \"spec\" do\nend\n"}, want: []string{"test: rake spec (exit)"}},
		"rake runs the tests":           {files: []string{"a.gemspec=", "Gemfile.lock=", "Rakefile=Rake::TestTask.new\n"}, want: []string{"test: bundle exec rake test (exit)"}},
		"rake runs no tests":            {files: []string{"a.gemspec=", "Rakefile=task :tests_of_old\n"}},
		"ruby runs all tests by a file": {files: []string{"a.gemspec=", "test/test_a.rb=", "test/run.rb=", "Rakefile=task :test"}, want: []string{"test: ruby -Ilib test/run.rb (minitest)"}},
		"dotnet":                        {files: []string{"App.sln=", "src/App/App.csproj="}, want: []string{"build: dotnet build --nologo (dotnet)", "test: dotnet test --nologo (dotnet-test)"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range stack.FindGateCommands(os.DirFS(tree(t, tt.files...))) {
				line := f.Name + ": " + strings.Join(f.Args, " ") + " (" + f.Format + ")"
				if f.Dir != "." && f.Dir != "" {
					line += " in " + f.Dir
				}
				got = append(got, line)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestLone holds the commands with which tests are run alone to what they were
// meant to be, also of runners that are not installed here.
func TestLone(t *testing.T) {
	for name, tt := range map[string]struct {
		files []string
		want  string
	}{
		"nextest":    {[]string{"Cargo.toml=", ".config/nextest.toml="}, "cargo nextest run --offline --workspace --no-fail-fast --retries=0 -E {test}"},
		"maven":      {[]string{"pom.xml=", "mvnw="}, "./mvnw -B -o -ntp test -Dsurefire.failIfNoSpecifiedTests=false -Dsurefire.rerunFailingTestsCount=0 -Dtest={test}"},
		"gradle":     {[]string{"build.gradle="}, "gradle --offline --no-daemon --console=plain --info --no-build-cache cleanTest test --tests={test}"},
		"minitest":   {[]string{"Gemfile=", "test/test_a.rb="}, `ruby -Ilib -Itest -e Dir["test/**/{test_*,*_test}.rb"].sort.each { |f| require "./#{f}" } -- --name={test}`},
		"rails":      {[]string{"Gemfile=", "bin/rails="}, "bin/rails test --name={test}"},
		"dotnet":     {[]string{"App.sln="}, "dotnet test --nologo --filter FullyQualifiedName={test}"},
		"playwright": {[]string{`package.json={"devDependencies":{"@playwright/test":"1"}}`, "playwright.config.js="}, "npx --no-install playwright test --reporter=list --retries=0 --grep={test}"},
		"jest":       {[]string{`package.json={"scripts":{"test":"jest"}}`, "yarn.lock="}, "yarn run jest --testNamePattern={test} --runTestsByPath {file}"},
		"bats":       {[]string{"a.bats="}, `sh -c t=$1; set --; for f in *.bats test/*.bats; do [ -e "$f" ] && set -- "$@" "$f"; done; bats -t --filter "$t" "$@" sh {test}`},
	} {
		found := stack.FindGateCommands(os.DirFS(tree(t, tt.files...)))
		if len(found) == 0 || strings.Join(found[len(found)-1].Lone.Args, " ") != tt.want {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// TestHeld likewise, of what keeps runners from exiting.
func TestHeld(t *testing.T) {
	for name, tt := range map[string]struct {
		files []string
		want  string // how the command ends
	}{
		"jest":      {[]string{`package.json={"scripts":{"test":"jest"}}`, "pnpm-lock.yaml="}, "pnpm exec jest --detectOpenHandles --forceExit"},
		"mocha":     {[]string{`package.json={"devDependencies":{"mocha":"12"}}`}, " npx --no-install mocha --exit"},
		"node":      {[]string{`package.json={"scripts":{"test":"node --test"}}`}, " node --test --test-force-exit --test-reporter=tap"},
		"vitest":    {[]string{`package.json={"scripts":{"test":"vitest run"}}`}, "npx --no-install vitest run --reporter=default --reporter=hanging-process --teardownTimeout=2000"},
		"pytest":    {[]string{"pytest.ini=", "conftest.py=", "uv.lock="}, " uv run --no-sync pytest -p no:cacheprovider"},
		"a script":  {[]string{`package.json={"scripts":{"test":"jest && node end.js"}}`}, ""},
		"no runner": {[]string{"pom.xml="}, ""},
	} {
		found := stack.FindGateCommands(os.DirFS(tree(t, tt.files...)))
		if len(found) == 0 || !strings.HasSuffix(strings.Join(found[len(found)-1].Hold.Args, " "), tt.want) || tt.want == "" && found[len(found)-1].Hold.Format != "" {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// TestTable holds every row to what it promises.
func TestTable(t *testing.T) {
	names := map[string]bool{}
	for _, s := range stack.AllStacks() {
		if s.Name == "" || names[s.Name] || len(s.Markers) == 0 || s.Steps == nil && s.Name != "go" {
			t.Errorf("row %q", s.Name)
		}
		names[s.Name] = true
		if s.Steps == nil {
			continue
		}
		for _, step := range s.Steps() {
			f, ok := stack.OutputFormats().FindFormat(step.Format)
			if !ok || !slices.Contains([]string{"build", "type", "lint", "format", "test", "e2e"}, step.Gate) || len(step.Args) == 0 {
				t.Errorf("%s: %+v", s.Name, step)
			}
			if (step.Gate == "test" || step.Gate == "e2e") != step.Tests || step.Tests && !f.Tests && f.Name != outputparser.Exit {
				t.Errorf("%s: %s tells no tests", s.Name, step.Format)
			}
			for word := range strings.FieldsSeq(strings.ReplaceAll(step.If, "|", " ")) {
				kind, _, ok := strings.Cut(strings.TrimPrefix(word, "!"), ":")
				if !ok || !slices.Contains([]string{"file", "has", "script", "runs", "dep", "target", "plugin", "rake"}, kind) {
					t.Errorf("%s: %q is no condition", s.Name, word)
				}
			}
		}
	}
}

func TestFindWritesNothingAndEnds(t *testing.T) {
	dir := tree(t, "package.json={}", "a/package.json={}")
	if err := os.Symlink(dir, filepath.Join(dir, "a", "loop")); err != nil {
		t.Fatal(err)
	}
	before := stack.SourceFiles(os.DirFS(dir))
	stack.FindGateCommands(os.DirFS(dir))
	if d := cmp.Diff(before, stack.SourceFiles(os.DirFS(dir))); d != "" {
		t.Error(d)
	}
}

func FuzzFind(f *testing.F) {
	f.Add("package.json", `{"scripts":{"test":"x"}}`)
	f.Add("pyproject.toml", "[tool.ruff]")
	f.Add("Makefile", "test:\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		if name == "" || strings.ContainsAny(name, "/\x00") || name == "." || name == ".." || len(name) > 100 {
			t.Skip()
		}
		dir := t.TempDir()
		if os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600) != nil {
			t.Skip()
		}
		seen := map[string]bool{}
		for _, found := range stack.FindGateCommands(os.DirFS(dir)) {
			if seen[found.Name] || len(found.Args) == 0 {
				t.Errorf("%+v", found)
			}
			seen[found.Name] = true
		}
	})
}

// TestModules shows each report of JaCoCo behind the directory of its module.
func TestModules(t *testing.T) {
	const report = `<report name="x"/>`
	for name, files := range map[string][]string{
		"maven": {
			"pom.xml=jacoco-maven-plugin",
			"mvnw=#!/bin/sh\nmkdir -p target/site/jacoco 'a/b/target/site/jacoco' && echo '" + report + "' | tee target/site/jacoco/jacoco.xml >a/b/target/site/jacoco/jacoco.xml\n",
		},
		"gradle": {
			"build.gradle=plugins { id 'jacoco' }",
			"gradlew=#!/bin/sh\nmkdir -p build/reports/jacoco/test a/b/build/reports/jacoco/test && echo '" + report + "' | tee build/reports/jacoco/test/r.xml >a/b/build/reports/jacoco/test/r.xml\n",
		},
	} {
		dir := tree(t, files...)
		for _, f := range []string{"mvnw", "gradlew"} {
			_ = os.Chmod(filepath.Join(dir, f), 0o755) // one of them is there
		}
		found := stack.FindGateCommands(os.DirFS(dir))
		cmd := exec.CommandContext(t.Context(), found[len(found)-1].Goes.Args[0], found[len(found)-1].Goes.Args[1:]...)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(name, err)
		}
		shown := strings.Fields(string(out))
		slices.Sort(shown) // find has no order
		if d := cmp.Diff([]string{"./a/b?>", ".?>", "<?nexus", "<?nexus", "<report", "<report", `name="x"/>`, `name="x"/>`}, shown); d != "" {
			t.Error(name, d)
		}
	}
}
