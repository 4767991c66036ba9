// Package serverconfig finds the configured servers of the Model Context Protocol: in the user's own
// configuration, which is trusted, and in a repository's nexus.toml and .mcp.json, which are not.
// Servers of a repository are used only once a person agreed to their commands and content, and
// they never receive values of the environment.
package serverconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/config/valuekind"
	"github.com/nexus-ai-builder/nexus/internal/sys/mcp"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
)

// mcpFile is the file with a repository's servers that many agents read.
const mcpFile = ".mcp.json"

const (
	maxFile    = 1 << 20
	maxServers = 64
	maxText    = 64 << 10 // bytes of a server's configuration
)

// DeclaredServer is a configured server.
type DeclaredServer struct {
	Name string
	config.MCPServerSettings
	From string // its file, for people
	Own  bool   // it belongs to the user, not to the repository
	Why  error  // why it cannot be used; nil: it can
}

// ListDeclaredServers returns the servers for the repository at root, ordered by name. The user's own servers
// override the project's, and those override the ones of .mcp.json. If .mcp.json is unreadable,
// All returns an error with the other servers.
func ListDeclaredServers(c config.Config, o config.SettingOrigins, root *os.Root) ([]DeclaredServer, error) {
	found := map[string]DeclaredServer{}
	data, err := readFile(root)
	if data != nil {
		var all []DeclaredServer
		if all, err = parseFile(data); err != nil {
			err = &nexus.Error{
				Code: nexus.CodeInvalidConfig, Message: "read " + mcpFile, Cause: err,
				Hint: `It holds {"mcpServers": {"NAME": {"command": "PROGRAM", "args": []}}}.`,
			}
		}
		for _, s := range all {
			found[s.Name] = s
		}
	}
	theirs := o.ProjectEntries(config.ServerSection)
	for name, s := range c.Servers {
		one := DeclaredServer{Name: name, MCPServerSettings: s, From: "your configuration", Own: !slices.Contains(theirs, name)}
		if !one.Own {
			one.From = "nexus.toml"
		}
		one.Why = one.check()
		found[name] = one
	}
	return slices.SortedStableFunc(maps.Values(found), func(a, b DeclaredServer) int { return strings.Compare(a.Name, b.Name) }), err
}

// readFile returns the repository's file, nil if there is none. It follows no link out of the
// repository.
func readFile(root *os.Root) ([]byte, error) {
	info, err := root.Stat(mcpFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxFile) {
		err = fmt.Errorf("it is not a file of at most %d bytes", maxFile)
	}
	var data []byte
	if err == nil {
		data, err = root.ReadFile(mcpFile)
	}
	if err != nil {
		return nil, &nexus.Error{Code: nexus.CodeInvalidConfig, Message: "read " + mcpFile, Cause: err, Hint: "Make it a file of the repository."}
	}
	return data, nil
}

// mcpFileServer is a server in .mcp.json. Unknown fields are ignored, because other programs read the file
// as well.
type mcpFileServer struct {
	Type    string            `json:"type"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	Cwd     string            `json:"cwd"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Timeout float64           `json:"timeout"` // milliseconds
}

// parseFile parses the content of .mcp.json.
func parseFile(data []byte) ([]DeclaredServer, error) {
	var file struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if len(file.Servers) > maxServers {
		return nil, fmt.Errorf("it has %d servers, the maximum is %d", len(file.Servers), maxServers)
	}
	var all []DeclaredServer
	for _, name := range slices.Sorted(maps.Keys(file.Servers)) {
		if !valuekind.IsSettingName(name) {
			return nil, fmt.Errorf("%s is not a name of letters, digits, _ and -", valuekind.QuoteForeign(name))
		}
		s := DeclaredServer{Name: name, From: mcpFile}
		var e mcpFileServer
		switch err := json.Unmarshal(file.Servers[name], &e); {
		case err != nil:
			s.Why = fmt.Errorf("it cannot be read: %w", err)
		case !slices.Contains([]string{"", "stdio", "http", "streamable-http"}, e.Type):
			s.Why = fmt.Errorf("it uses the transport %s, which is not supported", valuekind.QuoteForeign(e.Type))
		default:
			s.MCPServerSettings = config.MCPServerSettings{
				Command: e.Command, Args: e.Args, Env: nameValuePairs(e.Env), Cwd: e.Cwd, URL: e.URL, Headers: nameValuePairs(e.Headers),
				Timeout: min(time.Duration(max(e.Timeout, 0))*time.Millisecond, time.Hour),
			}
			s.Why = s.check()
		}
		all = append(all, s)
	}
	return all, nil
}

func nameValuePairs(m map[string]string) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		list = append(list, name+"="+m[name])
	}
	return list
}

// check returns an error if the server is invalid as declared.
func (s DeclaredServer) check() error {
	size := 0
	for _, text := range slices.Concat([]string{s.Command, s.Cwd, s.URL}, s.Args, s.Env, s.Headers, s.Tools) {
		if err := valuekind.CheckPlainText(text); err != nil {
			return fmt.Errorf("%s %w", valuekind.QuoteForeign(text), err)
		}
		if size += len(text); size > maxText {
			return fmt.Errorf("its declaration has more than %d bytes", maxText)
		}
	}
	switch {
	case s.Command == "" && s.URL == "":
		return errors.New("it has neither a command nor a url")
	case s.Command != "" && s.URL != "":
		return errors.New("it has both a command and a url")
	case s.Cwd != "" && !filepath.IsLocal(s.Cwd):
		return fmt.Errorf("its directory %s is not in the worktree", valuekind.QuoteForeign(s.Cwd))
	case !s.Own && s.firstVariable() != "":
		return fmt.Errorf("%s names a variable of yours, which only your own configuration may do", valuekind.QuoteForeign(s.firstVariable()))
	}
	for _, v := range s.Env {
		if name, _, _ := strings.Cut(v, "="); !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(name) {
			return fmt.Errorf("%s is not the name of a variable", valuekind.QuoteForeign(name))
		}
	}
	for _, h := range s.Headers {
		name, _, _ := strings.Cut(h, "=")
		if !regexp.MustCompile(`^[A-Za-z0-9-]+$`).MatchString(name) || isReservedHeader(name) {
			return fmt.Errorf("the header %s may not be set", valuekind.QuoteForeign(name))
		}
	}
	if s.URL != "" {
		if err := mcp.CheckURL(s.URL, s.Own); err != nil {
			return fmt.Errorf("its address: %w", err)
		}
	}
	return nil
}

// isReservedHeader reports whether only the protocol may set a header.
func isReservedHeader(name string) bool {
	name = strings.ToLower(name)
	for _, begin := range []string{"mcp-", "content-", "accept", "host", "connection", "transfer-", "te", "upgrade", "trailer", "expect", "proxy-", "sec-", "origin"} {
		if name == begin || strings.HasSuffix(begin, "-") && strings.HasPrefix(name, begin) {
			return true
		}
	}
	return false
}

// firstVariable returns the first text of the configuration that contains a variable such as ${NAME},
// or "".
func (s DeclaredServer) firstVariable() string {
	for _, text := range slices.Concat([]string{s.Command, s.URL, s.Cwd}, s.Args, s.Env, s.Headers) {
		if strings.Contains(text, "${") {
			return text
		}
	}
	return ""
}

// WithVariables returns the server with the user's variables filled in in its environment and
// headers. It applies only to the user's own servers.
func (s DeclaredServer) WithVariables(env func(string) string) (DeclaredServer, error) {
	if !s.Own {
		return s, nil
	}
	vars, err := config.ExpandVariables(s.Env, env)
	headers, bad := config.ExpandVariables(s.Headers, env)
	s.Env, s.Headers = vars, headers
	return s, errors.Join(err, bad)
}

// IsForRole reports whether a role gets the server's tools: by default, the roles that write.
// Roles that judge or plan read no text of a server unless the configuration lists them.
func (s DeclaredServer) IsForRole(role nexus.Role) bool {
	if role == "" { // all roles
		return true
	}
	if len(s.Roles) == 0 {
		return role == nexus.Coder || role == nexus.Tester || role == nexus.Assistant
	}
	return slices.Contains(s.Roles, string(role))
}

// OffersTool reports whether one of the server's tools is offered.
func (s DeclaredServer) OffersTool(tool string) bool {
	return len(s.Tools) == 0 || slices.Contains(s.Tools, tool)
}

// TrustKey returns the server's name in the trust store; the keys of its tools append a slash and their
// name.
func (s DeclaredServer) TrustKey() string { return "mcp:" + s.Name }

// ConsentText returns the server's command or URL in canonical form, with the content of the files of the
// tree that it names. A person agrees to this text.
func (s DeclaredServer) ConsentText(root *os.Root) string {
	text := struct {
		Command string            `json:"command,omitzero"`
		Args    []string          `json:"args,omitempty"`
		Env     []string          `json:"env,omitempty"`
		Cwd     string            `json:"cwd,omitzero"`
		URL     string            `json:"url,omitzero"`
		Headers []string          `json:"headers,omitempty"`
		Roles   []string          `json:"roles,omitempty"`
		Tools   []string          `json:"tools,omitempty"`
		Timeout string            `json:"timeout,omitzero"`
		Writes  bool              `json:"writes,omitzero"`
		Files   map[string]string `json:"files,omitempty"` // of the repository, with SHA-256 sums
	}{s.Command, s.Args, s.Env, s.Cwd, s.URL, s.Headers, s.Roles, s.Tools, "", s.Writes, trust.FilesOfCommand(root, s.Cwd, append([]string{s.Command}, s.Args...))}
	if s.Timeout > 0 {
		text.Timeout = s.Timeout.String()
	}
	data, err := json.MarshalIndent(text, "", "  ")
	if err != nil {
		return "" // plain values always encode
	}
	return string(data) + "\n"
}
