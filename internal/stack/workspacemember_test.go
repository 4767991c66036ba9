package stack_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// TestMembers gives gates of their own to packages that the one above them does
// not judge, and to no others.
func TestMembers(t *testing.T) {
	const tested = `={"scripts":{"test":"x"}}`
	for name, c := range map[string]struct {
		files []string
		own   string // directories that have tests of their own
	}{
		"npm":                 {[]string{`package.json={"scripts":{"test":"x"},"workspaces":["packages/*","!packages/old"]}`, "packages/a/package.json" + tested, "packages/old/package.json" + tested, "docs/package.json" + tested, "packages/a/inner/package.json" + tested}, "docs packages/a/inner packages/old"},
		"yarn":                {[]string{`package.json={"scripts":{"test":"x"},"workspaces":{"packages":["./libs/**"]}}`, "libs/a/b/package.json" + tested, "tool/package.json" + tested}, "tool"},
		"pnpm":                {[]string{"package.json" + tested, "pnpm-workspace.yaml=packages:\n  - 'packages/*' # all\n  - \"!**/legacy\"\n", "packages/a/package.json" + tested, "packages/legacy/package.json" + tested}, "packages/legacy"},
		"bun, nested":         {[]string{"package.json" + tested, "bun.lock=", `web/package.json={"scripts":{"test":"x"},"workspaces":["ui"]}`, "web/ui/package.json" + tested, "web/api/package.json" + tested}, "web web/api"},
		"lerna":               {[]string{"package.json" + tested, `lerna.json={"packages":["modules/*"]}`, "modules/a/package.json" + tested}, ""},
		"no workspace":        {[]string{"package.json" + tested, "docs/package.json" + tested, `test/package.json={"type":"commonjs"}`, "test/a.test.js=", `lib/package.json={"type":"module"}`, "examples/a/package.json" + tested, "template-a/package.json" + tested}, "docs"},
		"cargo":               {[]string{"Cargo.toml=[workspace]\nmembers = ['a']\nexclude = ['fuzz', 'x/y']\n", "a/Cargo.toml=[package]", "fuzz/Cargo.toml=[package]", "x/y/z/Cargo.toml=[package]", "own/Cargo.toml=[workspace]\n", "lost/Cargo.toml=[package]"}, "fuzz own x/y/z"},
		"cargo, no workspace": {[]string{"Cargo.toml=[package]", "tool/Cargo.toml=[package]"}, "tool"},
		"maven":               {[]string{"pom.xml=<modules><module>a</module><module> b/pom.xml </module></modules><!--<module>c</module>-->", "a/pom.xml=<modules><module>deep</module></modules>", "a/deep/pom.xml=", "a/other/pom.xml=", "b/pom.xml=", "c/pom.xml="}, "a/other c"},
		"gradle":              {[]string{"build.gradle=", "settings.gradle=include 'a', ':b:c' // include 'd'\nincludeBuild('e')\n", "a/build.gradle=", "b/c/build.gradle=", "d/build.gradle=", "d/settings.gradle=", "e/settings.gradle=", "e/build.gradle=", "f/build.gradle="}, "d e"},
		"gradle, a program":   {[]string{"build.gradle=", "settings.gradle=file('mods').eachDir { include it.name }", "mods/a/settings.gradle="}, ""},
		"pytest":              {[]string{"pyproject.toml=[tool.pytest.ini_options]\ntestpaths = [\"tests\", 'libs/a/tests']\n", "libs/a/pyproject.toml=pytest", "libs/b/pyproject.toml=pytest"}, "libs/b"},
		"pytest, all":         {[]string{"pytest.ini=[pytest]\n", "libs/b/pyproject.toml=pytest"}, ""},
		"pytest, in lines":    {[]string{"pytest.ini=[pytest]\ntestpaths =\n    tests\n    more\naddopts = -q\n", "more/setup.py=", "more/test_a.py=", "apart/setup.py=", "apart/test_a.py="}, "apart"},
		"unittest":            {[]string{"setup.py=", "test_a.py=", "a/__init__.py=", "a/setup.py=", "a/test_a.py=", "b/setup.py=", "b/test_b.py="}, "b"},
		"composer":            {[]string{`composer.json={"repositories":[{"type":"path","url":"packages/*"}]}`, "phpunit.xml=<directory>tests</directory><directory suffix='.php'>./packages/a/tests</directory>", "packages/a/composer.json={}", "packages/a/phpunit.xml=", "packages/b/composer.json={}", "packages/b/phpunit.xml="}, "packages/b"},
	} {
		t.Run(name, func(t *testing.T) {
			var own []string
			for _, f := range stack.FindGateCommands(os.DirFS(tree(t, c.files...))) {
				if f.Gate == "test" && f.Dir != "." {
					own = append(own, f.Dir)
				}
			}
			slices.Sort(own)
			if d := cmp.Diff(c.own, strings.Join(own, " ")); d != "" {
				t.Error(d)
			}
		})
	}
}
