package agentcli_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
)

const login = `{"claudeAiOauth":{"accessToken":"sk-ant-oat01-0123456789","refreshToken":"sk-ant-ort01-0123456789","expiresAt":1000,"scopes":["user:inference"],"subscriptionType":"max"}}`

// TestRenew writes back what a program renewed, and nothing else that may lie there
// after it ran: what is written there decides under whose account a person works.
func TestRenew(t *testing.T) {
	token := func(whose, id string) string {
		claims := `{"sub":"` + whose + `","jti":"` + id + `","exp":1,"https://api.openai.com/auth":{"chatgpt_account_id":"` + whose + `"}}`
		return "eyJhbGciOiJub25lIn0." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2lnbmF0dXJl"
	}
	codex := func(whose, id, at string) string {
		return `{"OPENAI_API_KEY":null,"tokens":{"id_token":"` + token(whose, id) + `","refresh_token":"rt-0123456789-` + id + `-0123","account_id":"0123-4567-8901-2345-678"},"last_refresh":"` + at + `"}`
	}
	for name, c := range map[string]struct {
		was, is, user string // user: what is there when it ends; empty: as it was
		kept          string
		same          bool // nothing is said
	}{
		"nothing":        {was: login, is: login, same: true},
		"renewed":        {was: login, is: strings.NewReplacer("0123456789", "9876543210", "1000", "2000").Replace(login)},
		"only one token": {was: login, is: strings.Replace(login, "oat01-0123456789", "oat01-9876543210", 1)},
		"the person was, too": {
			was: login, is: strings.ReplaceAll(login, "0123456789", "9876543210"), user: strings.ReplaceAll(login, "0123456789", "5555555555"),
			kept: "yours was changed meanwhile, and is newer",
		},
		"it expires earlier":    {was: login, is: strings.NewReplacer("0123456789", "9876543210", "1000", "900").Replace(login), kept: "claudeAiOauth.expiresAt is another"},
		"it may do more":        {was: login, is: strings.NewReplacer("0123456789", "9876543210", "user:inference", "org:admin").Replace(login), kept: "claudeAiOauth.scopes is another"},
		"it has another plan":   {was: login, is: strings.NewReplacer("0123456789", "9876543210", "max", "pro").Replace(login), kept: "claudeAiOauth.subscriptionType is another"},
		"it has more":           {was: login, is: strings.Replace(login, `"expiresAt"`, `"helperToken":"sk-ant-0123456789-0123","expiresAt"`, 1), kept: "it has other fields in claudeAiOauth"},
		"it is short":           {was: login, is: strings.Replace(login, "sk-ant-oat01-0123456789", "x", 1), kept: "claudeAiOauth.accessToken is another"},
		"it is no JSON":         {was: login, is: "token", kept: "it is not a JSON object"},
		"it is emptied":         {was: login, is: "{}", kept: "it has other fields"},
		"settings beside it":    {was: `{"token":"gho-0123456789-0123456789","theme":"dark"}`, is: `{"token":"gho-0123456789-0123456789","theme":"light","more":1}`, same: true},
		"codex":                 {was: codex("ann", "1", "2026-10-01T10:00:00.123Z"), is: codex("ann", "2", "2026-10-02T10:00:00.1Z")},
		"codex, another person": {was: codex("ann", "1", "2026-10-01T10:00:00Z"), is: codex("eve", "2", "2026-10-02T10:00:00Z"), kept: "tokens.id_token is another"},
		"codex, a key": {
			was: codex("ann", "1", "2026-10-01T10:00:00Z"), is: strings.Replace(codex("ann", "2", "2026-10-02T10:00:00Z"), "null", `"sk-0123456789-0123456789"`, 1),
			kept: "OPENAI_API_KEY is another",
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, from, own := loggedIn(t, c.was, 0o640)
			write(t, own, c.is)
			if c.user != "" {
				write(t, from, c.user)
			}
			all, secrets, err := l.WriteBack()
			if err != nil || (len(all) == 0) != c.same || len(all) > 0 && all[0] != (agentcli.RenewedLoginFile{File: ".claude/.credentials.json", Kept: c.kept}) {
				t.Fatalf("%+v %v", all, err)
			}
			want := c.was
			if c.user != "" {
				want = c.user
			} else if c.kept == "" && !c.same {
				want = c.is
				if len(secrets) == 0 {
					t.Error("what is new is no secret")
				}
			}
			if got, _ := os.ReadFile(from); string(got) != want {
				t.Errorf("the user has %s, want %s", got, want)
			}
			if info, err := os.Stat(from); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("mode %v %v", info.Mode(), err)
			}
			if again, _, err := l.WriteBack(); err != nil || len(again) > 0 {
				t.Errorf("it is said again: %+v %v", again, err)
			}
			if _, _, err := l.CopyFiles(); err != nil {
				t.Fatal(err)
			}
			if got, _ := os.ReadFile(own); string(got) != want && !c.same {
				t.Errorf("then it works with %s, want %s", got, want)
			}
		})
	}
}

// loggedIn returns a login that was copied into a home, and both files.
func loggedIn(t *testing.T, text string, mode os.FileMode) (l agentcli.AgentProgramLogin, from, own string) {
	t.Helper()
	l = agentcli.AgentProgramLogin{Program: agentcli.CLIAgentProgram{Name: "claude", Login: []string{".claude/.credentials.json"}}, Home: filepath.Join(t.TempDir(), "home"), User: t.TempDir()}
	from = write(t, filepath.Join(l.User, ".claude/.credentials.json"), text)
	if err := os.Chmod(from, mode); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Program.PrepareHome(l.Home, l.User); err != nil {
		t.Fatal(err)
	}
	return l, from, filepath.Join(l.Home, ".claude/.credentials.json")
}

// TestRenewFollowsNoLink: a link where the copy was reads nothing of the user's, and
// a directory that became one is not written through.
func TestRenewFollowsNoLink(t *testing.T) {
	for name, plant := range map[string]func(own, secret string) error{
		"a link":      func(own, secret string) error { return os.Symlink(secret, own) },
		"a hard link": func(own, secret string) error { return os.Link(secret, own) },
	} {
		l, from, own := loggedIn(t, login, 0o600)
		secret := write(t, filepath.Join(filepath.Dir(l.Home), "secret"), strings.ReplaceAll(login, "0123456789", "9876543210"))
		if err := os.Remove(own); err != nil {
			t.Fatal(err)
		}
		if err := plant(own, secret); err != nil {
			t.Fatal(err)
		}
		all, _, err := l.WriteBack()
		if err != nil || len(all) != 1 || !strings.Contains(all[0].Kept, "there") {
			t.Errorf("%s: %+v %v", name, all, err)
		}
		if got, _ := os.ReadFile(from); string(got) != login {
			t.Errorf("%s: the user has %s", name, got)
		}
	}
	l, from, own := loggedIn(t, login, 0o600)
	out := t.TempDir()
	if err := os.RemoveAll(filepath.Dir(own)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(out, filepath.Dir(own)); err != nil {
		t.Fatal(err)
	}
	write(t, from, strings.ReplaceAll(login, "0123456789", "5555555555"))
	if _, _, err := l.CopyFiles(); err == nil {
		t.Error("it was copied through a link")
	}
	if all, err := os.ReadDir(out); err != nil || len(all) > 0 {
		t.Errorf("%v %v", all, err)
	}
}

// TestParallelSessionsShareALogin: what one renewed, the other gets with its next
// prompt, and does not take back.
func TestParallelSessionsShareALogin(t *testing.T) {
	one, from, own := loggedIn(t, login, 0o600)
	two := one
	two.Home = filepath.Join(t.TempDir(), "home")
	if _, err := two.Program.PrepareHome(two.Home, two.User); err != nil {
		t.Fatal(err)
	}
	renewed := strings.ReplaceAll(login, "0123456789", "9876543210")
	write(t, own, renewed)
	if all, _, err := one.WriteBack(); err != nil || len(all) != 1 || all[0].Kept != "" {
		t.Fatalf("%+v %v", all, err)
	}
	if all, _, err := two.WriteBack(); err != nil || len(all) != 0 {
		t.Errorf("%+v %v", all, err)
	}
	copied, secrets, err := two.CopyFiles()
	if err != nil || !copied || !slices.Contains(secrets, "sk-ant-oat01-9876543210") {
		t.Errorf("%v %q %v", copied, secrets, err)
	}
	if got, _ := os.ReadFile(filepath.Join(two.Home, ".claude/.credentials.json")); string(got) != renewed {
		t.Errorf("it has %s", got)
	}
	if got, _ := os.ReadFile(from); string(got) != renewed {
		t.Errorf("the user has %s", got)
	}
}
