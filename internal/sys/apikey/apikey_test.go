package apikey

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zalando/go-keyring"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

func store(t *testing.T, env map[string]string) KeyStore {
	t.Helper()
	return KeyStore{Env: func(name string) string { return env[name] }, File: filepath.Join(t.TempDir(), "nexus", "keys.toml")}
}

// fake is a keyring in memory.
type fake map[string]string

func (f fake) Get(p string) (string, error) { return f[p], nil }
func (f fake) Set(p, v string) error        { f[p] = v; return nil }
func (f fake) Remove(p string) (bool, error) {
	_, ok := f[p]
	delete(f, p)
	return ok, nil
}

// locked is a keyring that does not answer.
type locked struct{}

func (locked) Get(string) (string, error)  { return "", errors.New("locked") }
func (locked) Set(string, string) error    { return errors.New("locked") }
func (locked) Remove(string) (bool, error) { return false, errors.New("locked") }

func TestOrder(t *testing.T) {
	env := map[string]string{"A_KEY": " from-env\n"}
	s := store(t, env)
	s.Keyring = fake{"a": "from-ring", "c": "from-ring"}
	var learned []string
	s.Learn = func(v string) { learned = append(learned, v) }
	if err := s.Set("a", "from-file", SourceFile); err != nil {
		t.Fatal(err)
	}
	if err := s.Set("b", "from-file-too-it-is-a-long-one", SourceFile); err != nil {
		t.Fatal(err)
	}
	find := func(provider, variable, want string, from KeySource) {
		t.Helper()
		k, err := s.Find(provider, variable)
		if err != nil || k.Value() != want || k.Source != from {
			t.Errorf("%s: %q from %s, %v", provider, k.Value(), k.Source, err)
		}
	}
	find("a", "A_KEY", "from-env", sourceEnvironment)
	delete(env, "A_KEY")
	find("a", "A_KEY", "from-file", SourceFile)
	find("b", "", "from-file-too-it-is-a-long-one", SourceFile)
	find("c", "C_KEY", "from-ring", SourceKeyring)
	find("d", "D_KEY", "", "")
	all, err := s.List(map[string]string{"a": "A_KEY", "c": ""})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, k := range all {
		got = append(got, k.Provider+" "+string(k.Source)+" "+k.LastCharacters())
	}
	if diff := cmp.Diff([]string{"a file ", "a keyring ", "b file -one", "c keyring "}, got); diff != "" {
		t.Error(diff)
	}
	from, err := s.Remove("a")
	if diff := cmp.Diff([]KeySource{SourceFile, SourceKeyring}, from); err != nil || diff != "" {
		t.Error(err, diff)
	}
	find("a", "A_KEY", "", "")
	if !strings.Contains(strings.Join(learned, " "), "from-ring") {
		t.Errorf("learned %q", learned)
	}
	if text := fmt.Sprintf("%v %+v %#v %s", all[0], all[0], all[0], all); strings.Contains(text, "from-file") {
		t.Errorf("it prints %q", text)
	}
}

// TestFileMode writes a file that only its owner can read, in a directory of
// the same kind, and leaves nothing beside it but the lock.
func TestFileMode(t *testing.T) {
	s := store(t, nil)
	if err := s.Set("a", "value", SourceFile); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{s.File: 0o600, filepath.Dir(s.File): 0o700 | os.ModeDir} {
		if info, err := os.Lstat(path); err != nil || info.Mode() != want {
			t.Errorf("%s has mode %v, %v", path, info.Mode(), err)
		}
	}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			if err := s.Set(fmt.Sprintf("p%d", i), "value", SourceFile); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if all, err := s.List(nil); err != nil || len(all) != 17 {
		t.Errorf("%d keys, %v", len(all), err)
	}
	entries, err := os.ReadDir(filepath.Dir(s.File))
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestUnsafe refuses every file that others could have read or changed, also
// to write to it, and never says what is there.
func TestUnsafe(t *testing.T) {
	const value = "not-to-be-shown"
	for name, spoil := range map[string]func(t *testing.T, file string) error{
		"readable":  func(_ *testing.T, f string) error { return os.Chmod(f, 0o644) },
		"group":     func(_ *testing.T, f string) error { return os.Chmod(f, 0o640) },
		"directory": func(_ *testing.T, f string) error { return os.Chmod(filepath.Dir(f), 0o775) },
		"link": func(t *testing.T, f string) error {
			t.Helper()
			to := filepath.Join(t.TempDir(), "keys.toml")
			return errors.Join(os.Rename(f, to), os.Symlink(to, f))
		},
		"linked directory": func(t *testing.T, f string) error {
			t.Helper()
			to := filepath.Join(t.TempDir(), "nexus")
			return errors.Join(os.Rename(filepath.Dir(f), to), os.Symlink(to, filepath.Dir(f)))
		},
		"no file": func(_ *testing.T, f string) error { return errors.Join(os.Remove(f), os.Mkdir(f, 0o700)) },
		"owner": func(t *testing.T, f string) error {
			t.Helper()
			if os.Geteuid() != 0 {
				t.Skip(testenv.NoMachine + "only root gives files away")
			}
			return os.Chown(f, 65534, 65534)
		},
		"large": func(_ *testing.T, f string) error { return os.Truncate(f, maxFile+1) },
	} {
		t.Run(name, func(t *testing.T) {
			s := store(t, nil)
			if err := s.Set("a", value, SourceFile); err != nil {
				t.Fatal(err)
			}
			if err := spoil(t, s.File); err != nil {
				t.Fatal(err)
			}
			_, err := s.Find("a", "")
			e, ok := errors.AsType[*nexus.Error](err)
			if !ok || e.Code != nexus.CodeKeyUnsafe || e.Hint == "" || strings.Contains(e.Error()+e.Hint, value) {
				t.Errorf("got %v", err)
			}
			if err := s.Set("b", value, SourceFile); !errors.Is(err, &nexus.Error{Code: nexus.CodeKeyUnsafe}) {
				t.Errorf("it was written to: %v", err)
			}
		})
	}
}

// TestListedDirectory makes a directory private that others could list, as mkdir leaves it, when a key is
// written to it; until then, its keys are not used.
func TestListedDirectory(t *testing.T) {
	s := store(t, nil)
	dir := filepath.Dir(s.File)
	list := func() {
		t.Helper()
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o755)); err != nil { //nolint:gosec // that is the case
			t.Fatal(err)
		}
	}
	for _, provider := range []string{"a", "b"} {
		list()
		if err := s.Set(provider, "value", SourceFile); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%v, %v", info, err)
		}
	}
	list()
	if _, err := s.Find("a", ""); !errors.Is(err, &nexus.Error{Code: nexus.CodeKeyUnsafe}) {
		t.Errorf("used: %v", err)
	}
}

func TestBroken(t *testing.T) {
	s := store(t, nil)
	if err := s.Set("a", "value", SourceFile); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"a = not-to-be-shown", "a = \"not-to-be-shown\nb", "[a]\nb = \"not-to-be-shown\"", "a = \"not to be shown\"", "a = \"\"", "\"x y\" = \"not-to-be-shown\""} {
		if err := os.WriteFile(s.File, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := s.Find("a", "")
		if !errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidConfig}) || strings.Contains(err.Error(), "shown") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestSetRefuses(t *testing.T) {
	s := store(t, nil)
	for _, x := range [][2]string{{"", "v"}, {"a b", "v"}, {"../a", "v"}, {"a", ""}, {"a", "v w"}, {"a", "v\x1b"}, {"a", "\xff"}, {"a", strings.Repeat("v", 5000)}} {
		if err := s.Set(x[0], x[1], SourceFile); !errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidInput}) {
			t.Errorf("%q %.10q: %v", x[0], x[1], err)
		}
	}
	if err := s.Set("a", "value", SourceKeyring); !errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidInput}) {
		t.Errorf("without a keyring: %v", err)
	}
}

func TestLockedRing(t *testing.T) {
	s := store(t, nil)
	s.Keyring = locked{}
	if k, err := s.Find("a", ""); err != nil || k.Value() != "" {
		t.Errorf("%v, %v", k, err)
	}
	if _, err := s.Remove("a"); err != nil {
		t.Error(err)
	}
}

// TestDesktop speaks with the library's own fake.
func TestDesktop(t *testing.T) {
	keyring.MockInit()
	s := store(t, nil)
	s.Keyring = DesktopKeyring(func(string) string { return "unix:path=/nowhere" })
	if err := s.Set("a", "value", SourceKeyring); err != nil {
		t.Fatal(err)
	}
	if k, err := s.Find("a", ""); err != nil || k.Value() != "value" || k.Source != SourceKeyring {
		t.Errorf("%v, %v", k, err)
	}
	if from, err := s.Remove("a"); err != nil || len(from) != 1 {
		t.Errorf("%v, %v", from, err)
	}
	if k, err := s.Find("a", ""); err != nil || k.Value() != "" {
		t.Errorf("%v, %v", k, err)
	}
	if DesktopKeyring(func(string) string { return "" }) != nil {
		t.Error("a keyring is looked for without a bus")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("anthropic = \"value\"\nopenai = 'x'\n"))
	f.Add([]byte("[x]\ny=1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		kept, err := parseKeyFile("keys.toml", data)
		if err != nil && !errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidConfig}) {
			t.Errorf("%v", err)
		}
		for provider, value := range kept {
			if err == nil && checkProviderKey(provider, value) != nil {
				t.Errorf("%q = %q", provider, value)
			}
		}
	})
}

// TestSilentRing holds that a keyring that takes a connection and never says
// a word is waited for once, and is as good as none. It needs a process of its
// own, in which no other test has put a keyring of its making.
func TestSilentRing(t *testing.T) {
	if os.Getenv("NEXUS_SILENT_RING") == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSilentRing$")
		cmd.Env = append(os.Environ(), "NEXUS_SILENT_RING=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	path := filepath.Join(t.TempDir(), "bus")
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+path)
	ring := withTimeout(desktopKeyring{}, 50*time.Millisecond)
	s := KeyStore{Env: func(string) string { return "" }, File: filepath.Join(t.TempDir(), "keys"), Keyring: ring}
	if k, err := s.Find("openai", "OPENAI_API_KEY"); err != nil || k.Value() != "" {
		t.Errorf("%v %v", k, err)
	}
	if !ring.(*timeoutKeyring).gone.Load() {
		t.Error("it said something")
	}
	slow := &timeoutKeyring{ring: ring, limit: time.Hour}
	slow.gone.Store(true)
	if _, err := slow.Get("openai"); !errors.Is(err, errSilent) {
		t.Error(err)
	}
	err = s.Set("openai", "sk-0123456789abcdef", SourceKeyring)
	if e, ok := errors.AsType[*nexus.Error](err); !ok || e.Code != nexus.CodeStorage || e.Hint == "" {
		t.Error(err)
	}
}
