package serverconfig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

func tree(t *testing.T, files map[string]string) *os.Root {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

// TestAll shows who wins, and whose a server is.
func TestAll(t *testing.T) {
	dir := t.TempDir()
	user, project := filepath.Join(dir, "config.toml"), filepath.Join(dir, "nexus.toml")
	for path, text := range map[string]string{
		user:    "[mcp.servers.mine]\ncommand = ['mine']\nenv = {KEY = '${KEY}'}\n[mcp.servers.both]\nurl = 'http://127.0.0.1:1/'\n",
		project: "[mcp.servers.theirs]\ncommand = ['theirs']\n[mcp.servers.greedy]\ncommand = ['theirs']\nenv = {KEY = '${KEY}'}\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, o, err := config.LoadSources(config.SettingSources{User: user, Project: project})
	if err != nil {
		t.Fatal(err)
	}
	all, err := ListDeclaredServers(c, o, tree(t, map[string]string{mcpFile: `{"mcpServers": {
		"both": {"command": "evil"}, "theirs": {"command": "other"}, "file": {"command": "file", "timeout": 1500, "alwaysLoad": true}}}`}))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range all {
		line := s.Name + " " + s.From + " " + s.Command + s.URL
		if s.Own {
			line += " own"
		}
		if s.Why != nil {
			line += ": " + s.Why.Error()
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{
		"both your configuration http://127.0.0.1:1/ own",
		"file .mcp.json file",
		`greedy nexus.toml theirs: "KEY=${KEY}" names a variable of yours, which only your own configuration may do`,
		"mine your configuration mine own",
		"theirs nexus.toml theirs",
	}, got); diff != "" {
		t.Error(diff)
	}
	if all[1].Timeout != 1500*time.Millisecond {
		t.Errorf("timeout %s", all[1].Timeout)
	}
}

func TestNoFile(t *testing.T) {
	all, err := ListDeclaredServers(config.Config{}, nil, tree(t, nil))
	if len(all) != 0 || err != nil {
		t.Errorf("%v, %v", all, err)
	}
	root := tree(t, map[string]string{"x": ""})
	if err := root.Symlink("/etc/passwd", mcpFile); err != nil {
		t.Fatal(err)
	}
	if _, err := ListDeclaredServers(config.Config{}, nil, root); err == nil {
		t.Error("a link out of the repository was followed")
	}
}

// TestUnusable declares what is never used, whoever agrees.
func TestUnusable(t *testing.T) {
	for entry, why := range map[string]string{
		`{}`: "neither",
		`{"command":"a","url":"https://a.example"}`:                                  "both",
		`{"type":"sse","url":"https://a.example"}`:                                   "not supported",
		`{"url":"http://a.example"}`:                                                 "only https",
		`{"url":"http://127.0.0.1"}`:                                                 "only https",
		`{"url":"https://u:p@a.example"}`:                                            "use headers",
		`{"url":"https://a.example","headers":{"Authorization":"Bearer ${TOKEN}"}}`:  "names a variable",
		`{"url":"https://${HOST}.a.example"}`:                                        "names a variable",
		`{"command":"a","args":["${HOME}"]}`:                                         "names a variable",
		`{"command":"a","env":{"A":"${B:-c}"}}`:                                      "names a variable",
		`{"command":"a","env":{"A=B":"c"}}`:                                          "",
		`{"command":"a","env":{"1A":"c"}}`:                                           "not the name of a variable",
		`{"command":"a","cwd":"../b"}`:                                               "not in the worktree",
		`{"command":"a","cwd":"/etc"}`:                                               "not in the worktree",
		`{"command":"a","args":["b\nc"]}`:                                            "control characters",
		`{"command":"a","args":"b"}`:                                                 "cannot be read",
		`{"url":"https://a.example","headers":{"Host":"b"}}`:                         "may not be set",
		`{"url":"https://a.example","headers":{"Mcp-Session-Id":"b"}}`:               "may not be set",
		`{"url":"https://a.example","headers":{"X\r\nY":"b"}}`:                       "control characters",
		`{"command":"a","args":["` + strings.Repeat("x", maxText) + `"]}`:            "more than",
		`{"command":"a","args":["--fine"],"env":{"A":"b"},"cwd":"sub","timeout":-1}`: "",
		`{"type":"http","url":"https://a.example/mcp","headers":{"X-Team":"a"}}`:     "",
	} {
		all, err := parseFile([]byte(`{"mcpServers":{"x":` + entry + `}}`))
		if err != nil || len(all) != 1 {
			t.Errorf("%.80s: %v", entry, err)
			continue
		}
		if got := all[0].Why; (got == nil) != (why == "") || got != nil && !strings.Contains(got.Error(), why) {
			t.Errorf("%.80s: %v, want %q", entry, got, why)
		}
	}
	for _, file := range []string{``, `[]`, `{"mcpServers":[]}`, `{"mcpServers":{"a b":{}}}`, `{"mcpServers":{"":{}}}`, `{"mcpServers":{"a/b":{}}}`} {
		if _, err := parseFile([]byte(file)); err == nil {
			t.Errorf("%s was read", file)
		}
	}
}

func TestFilled(t *testing.T) {
	env := func(name string) string { return map[string]string{"TOKEN": "secret", "EVIL": "a\r\nX: b"}[name] }
	own := DeclaredServer{Name: "x", Own: true, MCPServerSettings: config.MCPServerSettings{Env: []string{"A=${TOKEN}"}, Headers: []string{"Authorization=Bearer ${TOKEN}", "B=${NONE:-other}"}}}
	got, err := own.WithVariables(env)
	if err != nil || got.Env[0] != "A=secret" || got.Headers[0] != "Authorization=Bearer secret" || got.Headers[1] != "B=other" {
		t.Errorf("%v, %v", got, err)
	}
	if own.Env[0] != "A=${TOKEN}" {
		t.Error("the declaration itself was filled in")
	}
	own.Env = []string{"A=${NONE}"}
	if _, err := own.WithVariables(env); err == nil || !strings.Contains(err.Error(), "NONE is not set") {
		t.Error(err)
	}
	own.Env = []string{"A=${EVIL}"}
	if _, err := own.WithVariables(env); err == nil {
		t.Error("a variable broke out of its line")
	}
	theirs := DeclaredServer{Name: "x", MCPServerSettings: config.MCPServerSettings{Headers: []string{"Authorization=${TOKEN}"}}}
	if got, _ := theirs.WithVariables(env); got.Headers[0] != "Authorization=${TOKEN}" {
		t.Error("a repository's server was told a variable")
	}
}

func TestRoles(t *testing.T) {
	var s DeclaredServer
	for role, want := range map[nexus.Role]bool{nexus.Coder: true, nexus.Tester: true, nexus.Reviewer: false, nexus.Planner: false, nexus.Merger: false, "": true} {
		if s.IsForRole(role) != want {
			t.Errorf("%s without a word: %v", role, !want)
		}
	}
	s.Roles = []string{"reviewer"}
	if !s.IsForRole(nexus.Reviewer) || s.IsForRole(nexus.Coder) {
		t.Error("roles by name")
	}
	if s.Tools = []string{"a"}; !s.OffersTool("a") || s.OffersTool("b") {
		t.Error("tools by name")
	}
}

// TestText shows that whatever would run differently reads differently.
func TestText(t *testing.T) {
	base := DeclaredServer{Name: "x", MCPServerSettings: config.MCPServerSettings{Command: "node", Args: []string{"tools/a.js", "--config=b.json"}, Cwd: "sub"}}
	files := map[string]string{"sub/tools/a.js": "1", "sub/b.json": "2"}
	text := base.ConsentText(tree(t, files))
	if text != base.ConsentText(tree(t, files)) {
		t.Error("the same reads differently")
	}
	for name, s := range map[string]DeclaredServer{
		"command": {MCPServerSettings: config.MCPServerSettings{Command: "deno", Args: base.Args, Cwd: "sub"}},
		"args":    {MCPServerSettings: config.MCPServerSettings{Command: "node", Args: []string{"tools/a.js --config=b.json"}, Cwd: "sub"}},
		"env":     {MCPServerSettings: config.MCPServerSettings{Command: "node", Args: base.Args, Cwd: "sub", Env: []string{"A=b"}}},
		"cwd":     {MCPServerSettings: config.MCPServerSettings{Command: "node", Args: base.Args}},
		"writes":  {MCPServerSettings: config.MCPServerSettings{Command: "node", Args: base.Args, Cwd: "sub", Writes: true}},
		"roles":   {MCPServerSettings: config.MCPServerSettings{Command: "node", Args: base.Args, Cwd: "sub", Roles: []string{"reviewer"}}},
		"url":     {MCPServerSettings: config.MCPServerSettings{URL: "https://a.example"}},
	} {
		if s.ConsentText(tree(t, files)) == text {
			t.Errorf("%s reads the same", name)
		}
	}
	for _, name := range []string{"sub/tools/a.js", "sub/b.json"} {
		other := map[string]string{"sub/tools/a.js": "1", "sub/b.json": "2"}
		other[name] += "!"
		if base.ConsentText(tree(t, other)) == text {
			t.Errorf("with another %s it reads the same", name)
		}
		delete(other, name)
		if base.ConsentText(tree(t, other)) == text {
			t.Errorf("without %s it reads the same", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"mcpServers":{"a":{"command":"npx","args":["-y","x"],"env":{"A":"b"}},"b":{"type":"http","url":"https://x.example","headers":{"H":"v"}}}}`))
	f.Add([]byte(`{"mcpServers":{"a":null,"b":{"timeout":1e300},"c":{"timeout":-1,"cwd":".."}}}`))
	f.Add([]byte(`{"mcpservers":{"a":{"COMMAND":"x","command":"y"}},"mcpServers":{"A":{}}}`))
	dir, err := os.OpenRoot(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := parseFile(data)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, s := range all {
			if seen[s.Name] || s.Own {
				t.Errorf("%+v", s)
			}
			seen[s.Name] = true
			if s.Why != nil {
				continue
			}
			if s.check() != nil || s.firstVariable() != "" || s.Timeout < 0 || (s.Command == "") == (s.URL == "") || len(s.Roles) > 0 || s.Writes {
				t.Errorf("%+v may be used", s)
			}
			if text := s.ConsentText(dir); !strings.HasSuffix(text, "}\n") || s.ConsentText(dir) != text {
				t.Errorf("its text is %q", text)
			}
		}
	})
}
