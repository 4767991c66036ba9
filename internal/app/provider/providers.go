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
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/directoryprovider"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/gemini"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/openai"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/ratelimit"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/responses"
)

// BuiltinProvider is a provider that needs no configuration.
type BuiltinProvider struct {
	Name    string
	KeyEnv  string // environment variable of its key
	BaseEnv string // and of another address than its own
	usual   map[nexus.Tier]string
}

// BuiltinProviders returns the providers that need no configuration, in order of preference.
func BuiltinProviders() []BuiltinProvider {
	return []BuiltinProvider{
		{"anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", map[nexus.Tier]string{nexus.Fast: "claude-haiku-5-5", nexus.Balanced: "claude-sonnet-5-5", nexus.Strong: "claude-opus-5-5"}},
		{"openai", "OPENAI_API_KEY", "OPENAI_BASE_URL", map[nexus.Tier]string{nexus.Fast: "gpt-6-luna", nexus.Balanced: "gpt-6-sol", nexus.Strong: "gpt-6-astra"}},
		{"gemini", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", map[nexus.Tier]string{nexus.Fast: "gemini-3.5-flash-lite", nexus.Balanced: "gemini-3.8-flash", nexus.Strong: "gemini-3.1-pro-preview"}},
	}
}

func builtinProviderNamed(name string) BuiltinProvider {
	for _, k := range BuiltinProviders() {
		if k.Name == name {
			return k
		}
	}
	return BuiltinProvider{}
}

// StrongestModel returns the model that Nexus chooses at a provider for hard tasks, "" for an
// unknown provider.
func StrongestModel(provider string) string {
	if k := builtinProviderNamed(provider); k.Name != "" {
		return k.Name + "/" + k.usual[nexus.Strong]
	}
	return ""
}

// defaultModel returns the model of a tier without settings: that of the first provider with a
// key.
func (m *ModelPicker) defaultModel(tier nexus.Tier) (string, error) {
	for _, k := range BuiltinProviders() {
		found, err := m.providerKey(k.Name)
		if err != nil {
			return "", err
		}
		if found != "" {
			return k.Name + "/" + k.usual[tier], nil
		}
	}
	return "", nil
}

// providerSettings returns the settings of a provider; those with an SDK of their own need none. OpenAI
// itself is called by Responses, and any other server of that name by Chat Completions.
func (m *ModelPicker) providerSettings(name string) config.ProviderSettings {
	p := m.config.Providers[name]
	if slices.Contains(config.ChatServers(), p.Kind) {
		p.Kind, p.Server = "openai", p.Kind
	}
	if builtinProviderNamed(name).Name != "" {
		p.Kind = cmp.Or(p.Kind, name)
	}
	if p.Kind == "openai" && m.config.Providers[name].Kind == "" && openai.IsOpenAIServer(m.baseURL(name)) {
		p.Kind = "responses"
	}
	return p
}

// baseURL returns the configured address of a provider, "" for its own.
func (m *ModelPicker) baseURL(name string) string {
	base := m.config.Providers[name].BaseURL
	if env := builtinProviderNamed(name).BaseEnv; env != "" {
		base = cmp.Or(base, m.env(env))
	}
	return base
}

func keyVariable(p config.ProviderSettings, name string) string {
	return cmp.Or(p.KeyEnv, builtinProviderNamed(name).KeyEnv)
}

// openConfiguredProvider returns a provider with its settings and its key.
func (m *ModelPicker) openConfiguredProvider(name string) (llm.Provider, error) {
	found, err := m.providerKey(name)
	if err != nil {
		return nil, err
	}
	return m.newProvider(name, m.providerSettings(name), found)
}

func (m *ModelPicker) newProvider(name string, p config.ProviderSettings, key string) (llm.Provider, error) {
	limits := llm.CallLimits{Idle: m.config.Limits.TurnTime, Answer: m.config.Limits.AnswerTime}
	base := m.baseURL(name)
	switch p.Kind {
	case "anthropic":
		return anthropic.NewProvider(anthropic.Config{Key: key, BaseURL: base, HTTP: m.tap.httpClient(name), Limits: limits}), nil
	case "openai":
		server := p.Server
		if name != "openai" { // a provider is often named after its server program
			server = cmp.Or(server, name)
		}
		return openai.NewProvider(openai.Config{Key: key, BaseURL: base, HTTP: m.tap.httpClient(name), Limits: limits, Server: server}), nil
	case "responses":
		return responses.NewProvider(responses.Config{Key: key, BaseURL: base, HTTP: m.tap.httpClient(name), Limits: limits}), nil
	case "gemini":
		return gemini.NewProvider(gemini.Config{Key: key, BaseURL: base, HTTP: m.tap.httpClient(name), Limits: limits}), nil
	case "bridge":
		if p.Dir == "" {
			return nil, &nexus.Error{
				Code: nexus.CodeInvalidConfig, Message: "the provider " + name + " is a bridge without a directory",
				Hint: fmt.Sprintf("Set providers.%s.dir in ~/.config/nexus/config.toml, or use --model bridge:DIR.", name),
			}
		}
		dir, err := filepath.Abs(p.Dir)
		return directoryprovider.DirectoryProvider{Dir: dir}, err
	default:
		return nil, m.unknownModelError(name+"/...", "there is no provider of this name")
	}
}

// rateLimitAccount returns the account whose limits apply to calls of a provider: providers of other
// names share it if wire, address and key are the same.
func (m *ModelPicker) rateLimitAccount(name string, p config.ProviderSettings, key string) *ratelimit.AccountLimiter {
	base := m.baseURL(name)
	id := ratelimit.AccountKey{Kind: p.Kind, Base: strings.TrimRight(base, "/"), Key: ratelimit.HashKey(key)}
	return m.limits.AccountFor(id, ratelimit.CountingRulesOf(p.Kind, base == "" || openai.IsOpenAIServer(base)))
}

// listTimeout is how long a server may take to list its models.
const listTimeout = 5 * time.Second

// servedModel returns a model of the user's own server at an address that the environment names
// without any key; "" if there is none, or if it does not list its models. The server is asked
// once.
func (m *ModelPicker) servedModel() string {
	m.asked.Do(func() { m.own = m.find(m) })
	return m.own
}

// findServedModel asks the user's own servers for their models. It has a timeout of its own:
// the result is valid as long as m.
func findServedModel(m *ModelPicker) string {
	for _, k := range BuiltinProviders() {
		if m.baseURL(k.Name) == "" || m.hasKey(k.Name) {
			continue
		}
		p, err := m.openConfiguredProvider(k.Name)
		if err != nil {
			continue
		}
		ctx, stop := context.WithTimeoutCause(context.Background(), listTimeout, errors.New("the server does not answer"))
		all, err := p.Models(ctx)
		stop()
		if err == nil && len(all) > 0 {
			return k.Name + "/" + all[0].Name
		}
	}
	return ""
}

// isFree reports whether a provider/model costs nothing: a person who answers by hand sends no
// bill, nor does a server on this machine that needs no key and named the model itself. A
// server with a key, or elsewhere, may pass calls on to a paid one.
func (m *ModelPicker) isFree(name string) bool {
	provider, _, _ := llm.SplitModelName(name)
	if m.providerSettings(provider).Kind == "bridge" {
		return true
	}
	u, err := url.Parse(m.baseURL(provider))
	if err != nil || m.baseURL(provider) == "" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()) && m.servedModel() == name
}

// ProviderAvailability is the state of a provider with the present settings.
type ProviderAvailability struct {
	Name   string
	Models int      // number of models that it lists
	Lacks  []string // models that are used and that it does not list
	Err    error
}

func (m *ModelPicker) listModels(ctx context.Context, name string) ([]llm.ModelInfo, error) {
	p, err := m.openConfiguredProvider(name)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeoutCause(ctx, listTimeout, errors.New("the server does not answer"))
	defer stop()
	return p.Models(ctx)
}

// CheckProvider asks a provider for its models, and compares them with those that would be used.
func (m *ModelPicker) CheckProvider(ctx context.Context, name string) ProviderAvailability {
	s := ProviderAvailability{Name: name}
	all, err := m.listModels(ctx, name)
	if err != nil {
		s.Err = err
		return s
	}
	s.Models = len(all)
	for _, tier := range []nexus.Tier{nexus.Fast, nexus.Balanced, nexus.Strong} {
		used, err := m.ModelName(nexus.Coder, tier, "")
		provider, model, _ := llm.SplitModelName(used)
		if err == nil && provider == name && !slices.Contains(s.Lacks, model) &&
			!slices.ContainsFunc(all, func(a llm.ModelInfo) bool { return a.Name == model }) {
			s.Lacks = append(s.Lacks, model)
		}
	}
	return s
}

// UsedProviders returns the providers with settings, in order.
func (m *ModelPicker) UsedProviders() []string {
	var all []string
	for _, k := range BuiltinProviders() {
		if m.hasKey(k.Name) || m.baseURL(k.Name) != "" {
			all = append(all, k.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.config.Providers)) {
		if p := m.config.Providers[name]; !slices.Contains(all, name) && (p.KeyEnv == "" || m.hasKey(name)) {
			all = append(all, name)
		}
	}
	return all
}
