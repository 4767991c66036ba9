// Package agentcli runs third-party agent programs from their command line: those of [KnownPrograms], and
// any program that accepts a task and changes files.
//
// A prompt is one process in the sandbox. It has a home directory of its own, with a copy of the
// program's login in it and nothing else. The process ends when the stream reports that the prompt
// is done, when it is silent for too long, or when the context ends. After that, every process
// that it started is dead, too.
package agentcli

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
)

// CLIAgentProgram describes an agent program and how to run it.
type CLIAgentProgram struct {
	Name    string
	Command string   // program, found by PATH
	Args    []string // arguments before those of the format; for text all of them, with {prompt} for the prompt; {home} is its home
	Maker   string   // provider of its models, such as anthropic; empty: unknown
	Speaks  string   // format of its stream, see package stream; or acp, see package acp
	Model   string   // by the program's own name; empty: the program's choice
	Mode    string   // by the program's own name, if it speaks acp; empty: the program's choice
	End     string   // text in the line that ends a prompt, if it speaks text; empty: its exit ends it
	Env     []string // "NAME=value"
	Hosts   []string // hosts that it may reach
	Login   []string // files below the user's home that hold its login
	Install string   // command that installs it; empty: unknown
	Signin  string   // command that logs a person in
	Metered bool     // paid by use; else a subscription without further cost
}

// IsKnownProgram reports whether a program of this name needs no configuration.
func IsKnownProgram(name string) bool {
	return slices.ContainsFunc(KnownPrograms(), func(p CLIAgentProgram) bool { return p.Name == name })
}

// FindProgram looks up a program in PATH and returns its path, and the directories that must be visible
// for it to run. A program of npm is in the same directory as its packages.
func FindProgram(command, path string) (file string, seen []string, err error) {
	file = command
	if !filepath.IsAbs(file) {
		if strings.Contains(command, "/") {
			return "", nil, fmt.Errorf("%s is neither a name nor an absolute path", command)
		}
		i := slices.IndexFunc(filepath.SplitList(path), func(dir string) bool { return filepath.IsAbs(dir) && isRunnable(filepath.Join(dir, command)) })
		if i < 0 {
			return "", nil, fmt.Errorf("no program %s in PATH", command)
		}
		file = filepath.Join(filepath.SplitList(path)[i], command)
	}
	if !isRunnable(file) {
		return "", nil, fmt.Errorf("%s is not a program", file)
	}
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return "", nil, err
	}
	dir := filepath.Dir(real)
	if before, _, ok := strings.Cut(real, "/node_modules/"); ok {
		dir = before + "/node_modules"
	}
	return real, []string{dir}, nil
}

func isRunnable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// IsLoggedIn reports whether one of the login files exists. A program without login files counts as
// logged in.
func (p CLIAgentProgram) IsLoggedIn(home string) bool {
	return len(p.Login) == 0 || slices.ContainsFunc(p.Login, func(name string) bool {
		info, err := os.Stat(filepath.Join(home, name))
		return err == nil && info.Mode().IsRegular()
	})
}

// PrepareHome creates dir as the program's private home, with a copy of the login in it, see [AgentProgramLogin]. It
// returns the secrets of the login.
func (p CLIAgentProgram) PrepareHome(dir, user string) (secrets []string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, filewrite.WrapError("make a home for "+p.Name, err)
	}
	if err := p.writeSettings(dir); err != nil {
		return nil, err
	}
	_, secrets, err = AgentProgramLogin{p, dir, user}.CopyFiles()
	return secrets, err
}

// writeSettings writes the settings for which there is no variable and no flag.
func (p CLIAgentProgram) writeSettings(dir string) error {
	settings := p.settingsFiles()
	if len(settings) == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir) // an earlier session may have made links in it
	if err != nil {
		return filewrite.WrapError("make a home for "+p.Name, err)
	}
	defer root.Close() //nolint:errcheck // what was written is closed
	for name, text := range settings {
		if err := writeInHome(root, name, text); err != nil {
			return filewrite.WrapError("make a home for "+p.Name, err)
		}
	}
	return nil
}

// settingsFiles returns the files with the settings for which there is no variable and no flag, by
// their names in the program's home.
func (p CLIAgentProgram) settingsFiles() map[string][]byte {
	is := func(name string) bool { return p.Speaks == name || p.Name == name }
	switch {
	case p.Speaks == "amp":
		text := encodeJSON(map[string]any{"amp.dangerouslyAllowAll": true, "amp.updates.mode": "disabled"}) // our sandbox confines it
		return map[string][]byte{".config/amp/settings.json": text}
	case is("codex"): // features that contact third-party hosts
		text := "check_for_update_on_startup = false\n[analytics]\nenabled = false\n[features]\nplugins = false\napps = false\n"
		return map[string][]byte{".codex/config.toml": []byte(text)}
	case is("gemini"): // without them, it does not know its login method
		how := "oauth-personal"
		if slices.ContainsFunc(p.Env, func(e string) bool { return strings.HasPrefix(e, "GEMINI_API_KEY=") }) {
			how = "gemini-api-key"
		}
		return map[string][]byte{".gemini/settings.json": encodeJSON(map[string]any{
			"security": map[string]any{"auth": map[string]any{"selectedType": how}},
			"general":  map[string]any{"enableAutoUpdate": false, "disableAutoUpdate": true},
			"privacy":  map[string]any{"usageStatisticsEnabled": false},
			"advanced": map[string]any{"ignoreLocalEnv": true}, // ignores a .env of the repository
		})}
	case is("opencode"): // in every new home, it asks a registry for the imports of plugins, unless they seem to be installed
		root := map[string]any{"dependencies": map[string]any{"@opencode-ai/plugin": "*"}}
		lock := encodeJSON(map[string]any{"lockfileVersion": 3, "packages": map[string]any{"": root}})
		return map[string][]byte{
			".config/opencode/package-lock.json": lock, ".config/opencode/node_modules/README": []byte("No plugin is used here.\n"),
		}
	}
	return nil
}

// minSecret is the length from which a text in a login counts as a secret.
const minSecret = 20

// possibleSecrets returns the long texts without spaces in a JSON document.
func possibleSecrets(data []byte) []string {
	var all []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if len(v) >= minSecret && !strings.ContainsAny(v, " \n") {
				all = append(all, v)
			}
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			for _, one := range v {
				walk(one)
			}
		}
	}
	var v any
	if json.Unmarshal(data, &v) == nil {
		walk(v)
	}
	slices.Sort(all)
	return all
}

// NewConversationID returns a new identifier for a conversation, if the program accepts one.
func (p CLIAgentProgram) NewConversationID() string {
	if !slices.Contains([]string{"aider", "claude", "copilot", "crush", "gemini", "goose"}, p.Speaks) {
		return ""
	}
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// CanResume reports whether the program can continue a conversation.
func (p CLIAgentProgram) CanResume() bool { return p.Speaks != "text" }

// ReportsProgress reports whether the program reports its actions while it works, and not only at its end.
func (p CLIAgentProgram) ReportsProgress() bool { return p.Speaks != "text" && p.Speaks != "crush" }

// encodeJSON encodes plain values, for which encoding cannot fail.
func encodeJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		return []byte("{}")
	}
	return data
}
