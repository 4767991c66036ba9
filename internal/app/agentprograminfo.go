package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

const (
	probeTime  = 15 * time.Second // for the answer of an agent program; several are probed in parallel
	probeBytes = 64 << 10
	modelBytes = 8 << 20 // of its models
	probeAge   = 24 * time.Hour
)

// AgentProgramInfo is the information that an agent program prints about itself.
type AgentProgramInfo struct {
	Version string   `json:"version,omitzero"` // empty: it prints none
	Models  []string `json:"models,omitempty"` // in its own names; none: it prints none
	Helps   bool     `json:"helps,omitzero"`   // it lists its features, which are in the fields below
	Resumes bool     `json:"resumes,omitzero"` // it continues conversations
	Lacks   []string `json:"lacks,omitempty"`  // flags that Nexus starts it with and that it does not know
	Kept    []string `json:"kept,omitempty"`   // why a renewed login was not written back; the user's own is unchanged
	Home    string   `json:"home,omitzero"`    // directory with such a login; empty: none

	late bool // it did not answer in time, which does not predict the next time
}

// cachedAgentProgramInfo is the probe of a program, valid for a day and until the program changes.
type cachedAgentProgramInfo struct {
	ID string    `json:"id"` // identifies the program
	At time.Time `json:"at"`

	AgentProgramInfo
}

// ProbeAgents returns the probes of the installed agent programs, by name. Each is probed in the
// sandbox, once a day or when it changes. A trusted program gets a copy of its login, its
// variables and its hosts for the list of models, as at work, because the list depends on them.
// All others get an empty home and no network.
func (a *App) ProbeAgents(ctx context.Context, c config.Config, all []AgentInstallation) map[string]AgentProgramInfo {
	book := filepath.Join(a.StateHome(), "agents.json")
	known := map[string]cachedAgentProgramInfo{}
	if data, err := os.ReadFile(book); err == nil {
		_ = json.Unmarshal(data, &known) // else all are probed again
	}
	box, err := sandbox.FindSandbox(ctx, sandbox.ModeAuto)
	if err != nil {
		return nil // nothing runs without
	}
	var work sync.WaitGroup
	var mu sync.Mutex // guards known, now and asked
	now, asked := map[string]AgentProgramInfo{}, false
	for _, one := range all {
		id := a.probeID(one)
		if id == "" {
			continue
		}
		if was := known[one.Name]; was.ID == id && a.Now().Sub(was.At).Abs() < probeAge {
			now[one.Name] = was.AgentProgramInfo
			continue
		}
		work.Go(func() {
			said := a.probeAgent(ctx, box, c, one)
			mu.Lock()
			defer mu.Unlock()
			now[one.Name] = said
			if !said.late {
				known[one.Name], asked = cachedAgentProgramInfo{id, a.Now(), said}, true
			}
		})
	}
	work.Wait()
	if data, err := json.Marshal(known); err == nil && asked && ctx.Err() == nil {
		_ = filewrite.ReplaceFile(book, data) // they are probed again
	}
	return now
}

// probeID identifies a program, and its login: it changes if another program is in its place,
// or if the login changes; "" for none.
func (a *App) probeID(one AgentInstallation) string {
	id := fileIdentity(one.File)
	if id == "" {
		return ""
	}
	id = fmt.Sprintf("2 %s %s %q %t", id, one.Speaks, one.Args, one.Trusted)
	for _, name := range one.Login {
		if info, err := os.Stat(filepath.Join(a.Env("HOME"), name)); err == nil && one.Trusted {
			id += fmt.Sprintf(" %s %d", name, info.Size()) // by size: a renewed token has the same models
		}
	}
	return id
}

// fileIdentity identifies a file: it changes if another file is in its place; "" for none.
func fileIdentity(file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return ""
	}
	inode := uint64(0)
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		inode = s.Ino
	}
	return fmt.Sprintf("%s %d %d %d", file, inode, info.Size(), info.ModTime().UnixNano())
}

// agentProgramProber probes one program.
type agentProgramProber struct {
	box  *sandbox.Box
	one  AgentInstallation
	dir  string // its working directory
	path string
	seen []string // directories that it must be able to read
	said AgentProgramInfo
}

// probeAgent runs a program and reads its description.
func (a *App) probeAgent(ctx context.Context, box *sandbox.Box, set config.Config, one AgentInstallation) AgentProgramInfo {
	dir, err := os.MkdirTemp("", "nexus-agent-")
	if err != nil {
		return AgentProgramInfo{late: true}
	}
	p := &agentProgramProber{box: box, one: one, dir: filepath.Join(dir, "tree"), path: a.Env("PATH")}
	defer func() {
		if p.said.Home == "" {
			_ = os.RemoveAll(dir)
		}
	}()
	bare, own := filepath.Join(dir, "bare"), filepath.Join(dir, "home")
	_, p.seen, err = agentcli.FindProgram(one.Command, p.path)
	for _, d := range []string{p.dir, bare, own} {
		err = errors.Join(err, os.Mkdir(d, 0o700))
	}
	if err != nil {
		return AgentProgramInfo{late: true}
	}
	if out, ok := p.runProgram(ctx, p.startCommand(bare), probeBytes, "--version"); ok {
		p.said.Version = firstVersion(string(out))
	}
	work := p.startCommand(own)
	signed := one.Trusted && one.LoggedIn && a.addTrustedAccess(set, one, own, &work)
	if one.Speaks == "acp" {
		p.probeACP(ctx, work, signed)
	} else {
		p.probeCommands(ctx, bare, work)
	}
	if signed { // it may have renewed it, and some makers no longer accept an old one
		renewed, secrets, err := agentcli.AgentProgramLogin{Program: one.CLIAgentProgram, Home: own, User: a.Env("HOME")}.WriteBack()
		a.maskSecrets(secrets)
		p.said.recordRenewedLogins(renewed, err, own)
	}
	return p.said
}

// recordRenewedLogins records which files of a login that the program renewed in a home were not
// written back.
func (p *AgentProgramInfo) recordRenewedLogins(all []agentcli.RenewedLoginFile, err error, home string) {
	for _, r := range all {
		if r.Kept != "" {
			p.Kept, p.Home = append(p.Kept, r.File+": "+r.Kept), home
		}
	}
	if err != nil {
		p.Kept = append(p.Kept, err.Error())
	}
}

// maskSecrets adds secrets to the mask.
func (a *App) maskSecrets(secrets []string) {
	for _, s := range secrets {
		a.Mask.AddSecret(s)
	}
}

// addTrustedAccess gives a program the access that a person agreed to: its login, its variables
// and its hosts. It reports whether that succeeded.
func (a *App) addTrustedAccess(set config.Config, one AgentInstallation, home string, c *sandbox.Command) bool {
	secrets, err := one.PrepareHome(home, a.Env("HOME"))
	a.maskSecrets(secrets)
	net, failed := agentEgress(set, a.Env, one.CLIAgentProgram)
	if net != nil {
		way := net.NewGateway()
		c.Proxy, c.Local = way.Serve, way.LocalPortServers()
	}
	c.Env = append(c.Env, one.Env...)
	return err == nil && failed == nil
}

// probeACP reads the description of a program that speaks the Agent Client Protocol.
func (p *agentProgramProber) probeACP(ctx context.Context, work sandbox.Command, signed bool) {
	program := p.one.CLIAgentProgram
	program.Env = nil // the sandbox command contains it, if the program may have it
	timed, stop := context.WithTimeoutCause(ctx, probeTime, context.DeadlineExceeded)
	defer stop()
	told, err := acp.ProbeAgent(timed, acp.AgentLaunchOptions{Program: program, File: p.one.File, Run: p.box.Run, Command: work, Silence: probeTime}, signed)
	if err != nil {
		p.said.late = p.said.late || timed.Err() != nil
		return
	}
	p.said.Helps, p.said.Resumes, p.said.Models = true, told.Resumes, told.Models
	if p.said.Version == "" {
		p.said.Version = firstVersion(told.Version)
	}
}

// probeCommands reads the features of a program from its help, and its models from a command.
func (p *agentProgramProber) probeCommands(ctx context.Context, bare string, work sandbox.Command) {
	if args := p.one.HelpArgs(); args != nil {
		if help, ok := p.runProgram(ctx, p.startCommand(bare), probeBytes, args...); ok && len(bytes.TrimSpace(help)) > 0 {
			p.said.Helps = true
			p.said.Lacks, p.said.Resumes = p.one.MissingFlags(string(help))
		}
	}
	args, stdin := p.one.ModelArgs()
	if args == nil {
		return
	}
	work.Stdin = bytes.NewReader(stdin)
	if out, ok := p.runProgram(ctx, work, modelBytes, args...); ok || len(stdin) > 0 { // which is no prompt
		p.said.Models = p.one.ParseModels(out)
	}
}

// startCommand returns the command that starts it with a home, without its arguments.
func (p *agentProgramProber) startCommand(home string) sandbox.Command {
	return sandbox.Command{
		Dir: p.dir, Env: []string{"PATH=" + p.path, "HOME=" + home, "NO_COLOR=1"}, Readable: p.seen, Writable: []string{p.dir, home},
	}
}

// runProgram runs it, and returns its output and whether it succeeded.
func (p *agentProgramProber) runProgram(ctx context.Context, c sandbox.Command, most int64, args ...string) (out []byte, ok bool) {
	c.Args, c.Timeout, c.Cap = append([]string{p.one.File}, args...), probeTime, most
	r, err := p.box.Run(ctx, c)
	p.said.late = p.said.late || r.TimedOut || ctx.Err() != nil
	if len(r.Stdout) == 0 {
		r.Stdout = r.Stderr // some print their help there
	}
	return r.Stdout, err == nil && !r.TimedOut && r.Exit == 0
}

// firstVersion returns the first word of a text that has the form of a version.
func firstVersion(text string) string {
	for word := range strings.FieldsSeq(text) {
		word = strings.Trim(word, "(),v.")
		if len(word) > 2 && word[0] >= '0' && word[0] <= '9' && strings.Contains(word, ".") {
			return sanitize.TruncateText(word, 40)
		}
	}
	return ""
}
