// Package wire builds what a command needs from the configuration and the
// environment: models, the world of a run, and the loop that conducts it.
package wire

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/key"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/anthropic"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/openai"
	"github.com/nexus-ai-builder/nexus/internal/work/attempt"
)

// defaults are the models of a provider by tier, used where the
// configuration names none and the provider has a key.
func defaults(provider string, tier nexus.Tier) string {
	names := map[string]map[nexus.Tier]string{
		"anthropic": {nexus.Fast: "claude-haiku-5-5", nexus.Balanced: "claude-sonnet-5-5", nexus.Strong: "claude-opus-5-5"},
		"openai":    {nexus.Fast: "gpt-6-luna", nexus.Balanced: "gpt-6-sol", nexus.Strong: "gpt-6-astra"},
	}
	return provider + "/" + names[provider][tier]
}

// Models picks models for roles and makes the providers when they are first
// needed. It may be used by many goroutines.
type Models struct {
	config config.Config
	env    func(string) string
	now    func() time.Time
	prices *llm.Prices
	keys   *keys
	tap    Tap

	mu   sync.Mutex // guards made
	made map[string]llm.Model
}

// NewModels reads the price table. No provider is made yet.
func NewModels(c config.Config, env func(string) string, now func() time.Time) (*Models, error) {
	more := map[string]llm.Listed{}
	for name, p := range c.Pricing {
		more[name] = llm.Listed{Rates: []llm.Rate{{Input: p.Input, Output: p.Output, CacheRead: p.CacheRead, CacheWrite: p.CacheWrite}}}
	}
	prices, err := llm.LoadPrices(more)
	if err != nil {
		return nil, &nexus.Error{Code: nexus.CodeInvalidConfig, Message: "read the prices", Cause: err, Hint: "Mend pricing in the user's configuration file."}
	}
	return &Models{config: c, env: env, now: now, prices: prices, keys: newKeys(key.Store{Env: env}), made: map[string]llm.Model{}}, nil
}

// Name returns the provider/model that a role works with at a tier. A task's
// pin wins over the role's, and that over the tier's.
func (m *Models) Name(role nexus.Role, tier nexus.Tier, pin string) (string, error) {
	r := m.config.Roles[role]
	if r.Tier != "" && role != nexus.Coder && role != nexus.Tester {
		tier = r.Tier
	}
	tier = cmp.Or(tier, r.Tier, nexus.Fast)
	if pin == "" || role == nexus.Reviewer {
		pin = cmp.Or(r.Model, m.config.Models[tier])
	}
	if pin != "" {
		return pin, nil
	}
	for _, provider := range []string{"anthropic", "openai"} {
		found, err := m.key(provider)
		if err != nil {
			return "", err
		}
		if found != "" {
			return defaults(provider, tier), nil
		}
	}
	for _, near := range []nexus.Tier{nexus.Balanced, nexus.Strong} { // a weaker tier than any that is set
		if name := m.config.Models[near]; name != "" {
			return name, nil
		}
	}
	return "", m.nobody(role, tier)
}

// nobody says that there is no model, and what to set: all of it at once.
func (m *Models) nobody(role nexus.Role, tier nexus.Tier) error {
	e := &nexus.Error{
		Code: nexus.CodeNoProvider, Message: fmt.Sprintf("no model is known for the role %s at the tier %s", role, tier),
		Hint: "Set ANTHROPIC_API_KEY or OPENAI_API_KEY, keep a key with nexus config key set anthropic, or name a model: nexus config --explain shows where.",
	}
	for _, provider := range []string{"openai", "anthropic"} {
		if base := m.base(provider); base != "" {
			e.Message = fmt.Sprintf("%s serves models, and none is named", view.Clean(base))
			e.Hint = fmt.Sprintf("Name one with --model %s/NAME or models.fast in a configuration file; %s",
				provider, price(provider+"/NAME")) + " If it wants a key, set " + keyOf(config.Provider{}, provider) + "."
			return e
		}
	}
	return e
}

// price says how to tell what a model costs.
func price(name string) string {
	return fmt.Sprintf("say what it costs in ~/.config/nexus/config.toml, in dollars for a million tokens: "+
		"pricing.%q = { input = 0, output = 0 }.", name)
}

// base returns the address that is set for a provider, empty for its own.
func (m *Models) base(name string) string {
	switch p := m.config.Providers[name]; name {
	case "anthropic":
		return cmp.Or(p.BaseURL, m.env("ANTHROPIC_BASE_URL"))
	case "openai":
		return cmp.Or(p.BaseURL, m.env("OPENAI_BASE_URL"))
	default:
		return p.BaseURL
	}
}

// Ready reports whether every role has a model at every tier that a run may
// come to, so that nothing is begun, and paid for, that cannot be ended.
func (m *Models) Ready(p *nexus.Plan) error {
	for _, tier := range []nexus.Tier{nexus.Fast, nexus.Balanced, nexus.Strong} {
		for _, role := range []nexus.Role{nexus.Coder, nexus.Tester, nexus.Reviewer, nexus.Merger, nexus.Planner, nexus.Router} {
			if _, err := m.Pick(role, tier, ""); err != nil {
				return err
			}
		}
	}
	if p == nil {
		return nil
	}
	for _, t := range p.Tasks {
		if _, err := m.Pick(nexus.Coder, t.Tier, t.Model); err != nil {
			return fmt.Errorf("task %s: %w", t.ID, err)
		}
	}
	return nil
}

// Pick returns a model that is ready to be asked, with its price.
func (m *Models) Pick(role nexus.Role, tier nexus.Tier, pin string) (attempt.Model, error) {
	name, err := m.Name(role, tier, pin)
	if err != nil {
		return attempt.Model{}, err
	}
	provider, model, ok := llm.Split(name)
	if !ok {
		return attempt.Model{}, unknown(name, "a model is named provider/model")
	}
	if _, priced := m.prices.Price(name, nexus.Usage{}, m.now()); !priced {
		return attempt.Model{}, unknown(name, "it has no known price")
	}
	client, err := m.client(provider)
	if err != nil {
		return attempt.Model{}, err
	}
	return attempt.Model{
		Model: client, Name: name, Wire: model,
		Price: func(u nexus.Usage) nexus.Money { price, _ := m.prices.Price(name, u, m.now()); return price },
		Worst: func(r llm.Request) nexus.Money { worst, _ := m.prices.Worst(name, r); return worst },
	}, nil
}

func unknown(name, why string) error {
	return &nexus.Error{
		Code: nexus.CodeModelUnknown, Message: fmt.Sprintf("model %q: %s", name, why),
		Hint: "Use a model of the price table, or " + price(name),
	}
}

// provider returns the settings of a provider; the two with an SDK of their
// own need none.
func (m *Models) provider(name string) config.Provider {
	p := m.config.Providers[name]
	if name == "anthropic" || name == "openai" {
		p.Kind = cmp.Or(p.Kind, name)
	}
	return p
}

func keyOf(p config.Provider, name string) string {
	switch {
	case p.KeyEnv != "":
		return p.KeyEnv
	case name == "anthropic":
		return "ANTHROPIC_API_KEY"
	case name == "openai":
		return "OPENAI_API_KEY"
	default:
		return ""
	}
}

// client returns the provider's client, made at the first call.
func (m *Models) client(name string) (llm.Model, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.made[name]; c != nil {
		return c, nil
	}
	p := m.provider(name)
	key, err := m.key(name)
	if err != nil {
		return nil, err
	}
	if key == "" && keyOf(p, name) != "" && (p.KeyEnv != "" || m.base(name) == "") { // an address of one's own may want none
		return nil, &nexus.Error{
			Code: nexus.CodeNoKey, Message: fmt.Sprintf("the provider %s has no key", name),
			Hint: "Set " + keyOf(p, name) + " in the environment, or keep a key with nexus config key set " + name + ".",
		}
	}
	limits := llm.Limits{Idle: m.config.Limits.TurnTime}
	var c llm.Model
	switch p.Kind {
	case "anthropic":
		c = anthropic.New(anthropic.Config{Key: key, BaseURL: m.base(name), HTTP: m.tap.client(name), Limits: limits})
	case "openai":
		c = openai.New(openai.Config{Key: key, BaseURL: m.base(name), HTTP: m.tap.client(name), Limits: limits})
	default:
		return nil, unknown(name+"/...", "there is no provider of this name")
	}
	m.made[name] = c
	return c, nil
}
