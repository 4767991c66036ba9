package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/anthropic"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/bridge"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/gemini"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/openai"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/ratelimit"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/responses"
)

// Known is a provider that needs no configuration.
type Known struct {
	Name    string
	KeyEnv  string // environment variable of its key
	BaseEnv string // and of another address than its own
	usual   map[nexus.Tier]string
}

// KnownProviders returns the providers that need no configuration, in the
// order in which they are chosen.
func KnownProviders() []Known {
	return []Known{
		{"anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", map[nexus.Tier]string{nexus.Fast: "claude-haiku-5-5", nexus.Balanced: "claude-sonnet-5-5", nexus.Strong: "claude-opus-5-5"}},
		{"openai", "OPENAI_API_KEY", "OPENAI_BASE_URL", map[nexus.Tier]string{nexus.Fast: "gpt-6-luna", nexus.Balanced: "gpt-6-sol", nexus.Strong: "gpt-6-astra"}},
		{"gemini", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", map[nexus.Tier]string{nexus.Fast: "gemini-3.5-flash-lite", nexus.Balanced: "gemini-3.8-flash", nexus.Strong: "gemini-3.1-pro-preview"}},
	}
}

func known(name string) Known {
	for _, k := range KnownProviders() {
		if k.Name == name {
			return k
		}
	}
	return Known{}
}

// Strongest returns the model that Nexus would choose at a provider for what is
// hard, empty for a provider that is not known.
func Strongest(provider string) string {
	if k := known(provider); k.Name != "" {
		return k.Name + "/" + k.usual[nexus.Strong]
	}
	return ""
}

// usual returns the model of a tier where the configuration names none: that
// of the first provider that has a key.
func (m *Models) usual(tier nexus.Tier) (string, error) {
	for _, k := range KnownProviders() {
		found, err := m.key(k.Name)
		if err != nil {
			return "", err
		}
		if found != "" {
			return k.Name + "/" + k.usual[tier], nil
		}
	}
	return "", nil
}

// provider returns the settings of a provider; those with an SDK of their own
// need none. OpenAI itself is asked by Responses, whatever else has its name
// by Chat Completions.
func (m *Models) provider(name string) config.Provider {
	p := m.config.Providers[name]
	if known(name).Name != "" {
		p.Kind = cmp.Or(p.Kind, name)
	}
	if p.Kind == "openai" && m.config.Providers[name].Kind == "" && openai.Official(m.base(name)) {
		p.Kind = "responses"
	}
	return p
}

// base returns the address that is set for a provider, empty for its own.
func (m *Models) base(name string) string {
	base := m.config.Providers[name].BaseURL
	if env := known(name).BaseEnv; env != "" {
		base = cmp.Or(base, m.env(env))
	}
	return base
}

func keyOf(p config.Provider, name string) string {
	return cmp.Or(p.KeyEnv, known(name).KeyEnv)
}

// openConfigured returns a provider as it is configured, with its key.
func (m *Models) openConfigured(name string) (llm.Provider, error) {
	found, err := m.key(name)
	if err != nil {
		return nil, err
	}
	return m.open(name, m.provider(name), found)
}

func (m *Models) open(name string, p config.Provider, key string) (llm.Provider, error) {
	limits := llm.Limits{Idle: m.config.Limits.TurnTime, Answer: m.config.Limits.AnswerTime}
	base := m.base(name)
	switch p.Kind {
	case "anthropic":
		return anthropic.New(anthropic.Config{Key: key, BaseURL: base, HTTP: m.tap.client(name), Limits: limits}), nil
	case "openai":
		server := p.Server
		if name != "openai" { // a provider is often called what serves it
			server = cmp.Or(server, name)
		}
		return openai.New(openai.Config{Key: key, BaseURL: base, HTTP: m.tap.client(name), Limits: limits, Server: server}), nil
	case "responses":
		return responses.New(responses.Config{Key: key, BaseURL: base, HTTP: m.tap.client(name), Limits: limits}), nil
	case "gemini":
		return gemini.New(gemini.Config{Key: key, BaseURL: base, HTTP: m.tap.client(name), Limits: limits}), nil
	case "bridge":
		if p.Dir == "" {
			return nil, &nexus.Error{
				Code: nexus.CodeInvalidConfig, Message: "the provider " + name + " is a bridge without a directory",
				Hint: fmt.Sprintf("Set providers.%s.dir in ~/.config/nexus/config.toml, or use --model bridge:DIR.", name),
			}
		}
		dir, err := filepath.Abs(p.Dir)
		return bridge.Provider{Dir: dir}, err
	default:
		return nil, m.unknown(name+"/...", "there is no provider of this name")
	}
}

// account returns whose limits calls of a provider count against: providers
// of other names share them where wire, address and key are the same.
func (m *Models) account(name string, p config.Provider, key string) *ratelimit.Account {
	base := m.base(name)
	id := ratelimit.Name{Kind: p.Kind, Base: strings.TrimRight(base, "/"), Key: ratelimit.Identity(key)}
	return m.limits.Of(id, ratelimit.RulesOf(p.Kind, base == "" || openai.Official(base)))
}

// asking is how long a server may take to say what models it has.
const asking = 5 * time.Second

// served returns a model of a server of one's own that an address in the
// environment names without any key; empty where there is none, or where it
// does not say what it serves. It is asked once.
func (m *Models) served() string {
	m.asked.Do(func() { m.own = m.find(m) })
	return m.own
}

// find asks the servers of one's own what they serve. It has a time of its
// own: what is found holds for as long as m.
func find(m *Models) string {
	for _, k := range KnownProviders() {
		if m.base(k.Name) == "" || m.has(k.Name) {
			continue
		}
		p, err := m.openConfigured(k.Name)
		if err != nil {
			continue
		}
		ctx, stop := context.WithTimeoutCause(context.Background(), asking, errors.New("the server does not answer"))
		all, err := p.Models(ctx)
		stop()
		if err == nil && len(all) > 0 {
			return k.Name + "/" + all[0].Name
		}
	}
	return ""
}

// free reports whether a provider/model costs nothing: whoever answers by hand
// sends no bill, and a server on this machine that wants no key named it itself. What has a key, or is elsewhere,
// may pass calls on to who is paid.
func (m *Models) free(name string) bool {
	provider, _, _ := llm.Split(name)
	if m.provider(provider).Kind == "bridge" {
		return true
	}
	u, err := url.Parse(m.base(provider))
	if err != nil || m.base(provider) == "" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()) && m.served() == name
}

// Standing is how a provider stands with what is set.
type Standing struct {
	Name   string
	Models int      // that it lists
	Lacks  []string // models that are used and that it does not list
	Err    error
}

func (m *Models) list(ctx context.Context, name string) ([]llm.About, error) {
	p, err := m.openConfigured(name)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeoutCause(ctx, asking, errors.New("the server does not answer"))
	defer stop()
	return p.Models(ctx)
}

// Ask asks a provider what it serves, and compares it with what would be used.
func (m *Models) Ask(ctx context.Context, name string) Standing {
	s := Standing{Name: name}
	all, err := m.list(ctx, name)
	if err != nil {
		s.Err = err
		return s
	}
	s.Models = len(all)
	for _, tier := range []nexus.Tier{nexus.Fast, nexus.Balanced, nexus.Strong} {
		used, err := m.Name(nexus.Coder, tier, "")
		provider, model, _ := llm.Split(used)
		if err == nil && provider == name && !slices.Contains(s.Lacks, model) &&
			!slices.ContainsFunc(all, func(a llm.About) bool { return a.Name == model }) {
			s.Lacks = append(s.Lacks, model)
		}
	}
	return s
}

// Used returns the providers that something is set for, in order.
func (m *Models) Used() []string {
	var all []string
	for _, k := range KnownProviders() {
		if m.has(k.Name) || m.base(k.Name) != "" {
			all = append(all, k.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.config.Providers)) {
		if p := m.config.Providers[name]; !slices.Contains(all, name) && (p.KeyEnv == "" || m.has(name)) {
			all = append(all, name)
		}
	}
	return all
}
