// Package fetched shows commands what the user's tools have fetched before:
// packages and registries that lie in the home, which a sandbox does not see.
// Each is read through a layer of its own, so that a command may write there,
// and nothing of that reaches the user, or any other command.
package fetched

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree/overlay"
)

// Store is a row of the table: where tools keep what they fetched.
type Store struct {
	Name  string
	Tools []string // programs that use it
	Home  string   // where it is below the home
	From  string   // variable of the user's that says where it is instead; empty for none
	Below string   // name of Home under what Var names, for tools that want the directory around it
	Var   string   // variable that tells a command where it is
	Value string   // of Var, with @ for the directory; empty is the directory
}

// Table returns all stores. None holds a password: those lie beside them.
func Table() []Store {
	return []Store{
		{Name: "npm", Tools: []string{"npm", "npx"}, Home: ".npm/_cacache", Below: "_cacache", Var: "npm_config_cache"},
		{Name: "pnpm", Tools: []string{"pnpm", "pnpx"}, Home: ".local/share/pnpm/store", Var: "npm_config_store_dir"},
		{Name: "yarn", Tools: []string{"yarn"}, Home: ".cache/yarn", From: "YARN_CACHE_FOLDER", Var: "YARN_CACHE_FOLDER"},
		{Name: "yarn-berry", Tools: []string{"yarn"}, Home: ".yarn/berry", From: "YARN_GLOBAL_FOLDER", Var: "YARN_GLOBAL_FOLDER"},
		{Name: "bun", Tools: []string{"bun", "bunx"}, Home: ".bun/install/cache", From: "BUN_INSTALL_CACHE_DIR", Var: "BUN_INSTALL_CACHE_DIR"},
		{Name: "pip", Tools: []string{"pip", "pip3", "python3", "poetry", "pipenv"}, Home: ".cache/pip", From: "PIP_CACHE_DIR", Var: "PIP_CACHE_DIR"},
		{Name: "uv", Tools: []string{"uv", "uvx"}, Home: ".cache/uv", From: "UV_CACHE_DIR", Var: "UV_CACHE_DIR"},
		{Name: "poetry", Tools: []string{"poetry"}, Home: ".cache/pypoetry", From: "POETRY_CACHE_DIR", Var: "POETRY_CACHE_DIR"},
		{Name: "composer", Tools: []string{"composer"}, Home: ".cache/composer", From: "COMPOSER_CACHE_DIR", Var: "COMPOSER_CACHE_DIR"},
		{Name: "cargo", Tools: []string{"cargo"}, Home: ".cargo/registry", Below: "registry", Var: "CARGO_HOME"},
		{Name: "cargo-git", Tools: []string{"cargo"}, Home: ".cargo/git", Below: "git", Var: "CARGO_HOME"},
		{Name: "maven", Tools: []string{"mvn", "mvnw"}, Home: ".m2/repository", Var: "MAVEN_OPTS", Value: "-Dmaven.repo.local=@"},
		{Name: "gradle", Tools: []string{"gradle", "gradlew"}, Home: ".gradle/caches", Below: "caches", Var: "GRADLE_USER_HOME"},
		{Name: "gradle-wrapper", Tools: []string{"gradlew"}, Home: ".gradle/wrapper", Below: "wrapper", Var: "GRADLE_USER_HOME"},
		{Name: "nuget", Tools: []string{"dotnet"}, Home: ".nuget/packages", From: "NUGET_PACKAGES", Var: "NUGET_PACKAGES"},
	}
}

// User is whose stores are shown. The zero User has none.
type User struct {
	Home string              // absolute
	Env  func(string) string // the user's environment
}

// Shown is what a command gets.
type Shown struct {
	Env      []string
	Writable []string
}

// Show mounts, below dir, a layer over every store that is there and that a
// program among words uses. Where no overlay can be mounted nothing is shown.
// What is shown twice keeps what was written there. [Hide] takes it away.
func (u User) Show(dir string, words []string) (Shown, error) {
	var s Shown
	for _, t := range Table() {
		from := u.place(t)
		if !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(t.Tools, path.Base(w)) }) || from == "" {
			continue
		}
		at := filepath.Join(dir, t.Name)
		name := t.Var
		if t.Below == "" {
			name = t.Name // nobody else is below it
		}
		top := filepath.Join(dir, "at", name)
		place := filepath.Join(top, t.Below)
		switch err := mount(from, at, place); {
		case errors.Is(err, overlay.ErrNone):
			return s, nil
		case err != nil:
			return s, disk.Fail("show what was fetched", err)
		}
		value := top
		if t.Value != "" {
			value = strings.ReplaceAll(t.Value, "@", top)
		}
		if v := t.Var + "=" + value; !slices.Contains(s.Env, v) {
			s.Env, s.Writable = append(s.Env, v), append(s.Writable, top)
		}
	}
	return s, nil
}

// place returns where the user's store lies, empty where there is none.
func (u User) place(t Store) string {
	from := ""
	if u.Home != "" {
		from = filepath.Join(u.Home, filepath.FromSlash(t.Home))
	}
	if t.From != "" && u.Env != nil && u.Env(t.From) != "" {
		from = filepath.Clean(u.Env(t.From))
	}
	real, err := filepath.EvalSymlinks(from)
	if err != nil || !filepath.IsAbs(real) {
		return ""
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return ""
	}
	return real
}

func mount(from, at, place string) error {
	if on, err := overlay.Mounted(place); err == nil && on {
		return nil
	}
	l := overlay.Layers{Lower: from, Upper: filepath.Join(at, "upper"), Work: filepath.Join(at, "work"), Dir: place}
	for _, d := range []string{l.Upper, l.Work, l.Dir} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
	}
	return overlay.Mount(l)
}

// Hide takes away what was shown below dir, with everything that was written
// there.
func Hide(dir string) error {
	mounted, err := overlay.Below(dir)
	for _, m := range mounted {
		err = errors.Join(err, overlay.Unmount(m))
	}
	if err != nil { // what is removed now could be the user's
		return disk.Fail("hide what was fetched", err)
	}
	return disk.Fail("hide what was fetched", disk.RemoveAll(dir))
}
