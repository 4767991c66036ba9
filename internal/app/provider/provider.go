// Package provider chooses models for roles and opens their providers, from the configuration
// and the environment.
package provider

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/apikey"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/catalog"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/ratelimit"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// ModelPicker picks models for roles and creates the providers when they are first needed. It is
// safe for concurrent use.
type ModelPicker struct {
	config config.Config
	env    func(string) string
	now    func() time.Time
	prices *llm.PriceTable
	public func() (catalog.StoredModelCatalog, error)
	keys   *providerKeyCache
	tap    RecordingTransport

	mu     sync.Mutex // guards made
	made   map[string]llm.Model
	limits *ratelimit.AccountLimiters

	able  llm.ModelCapabilityTable
	find  func(*ModelPicker) string
	asked sync.Once // guards own
	own   string    // provider/model of the user's own server
}

// NewModelPicker reads the price table. No provider is created yet.
func NewModelPicker(c config.Config, env func(string) string, now func() time.Time) (*ModelPicker, error) {
	more := map[string]llm.ModelTableEntry{}
	for name, p := range c.Pricing {
		more[name] = llm.ModelTableEntry{Rates: []llm.TokenPriceRate{{
			Input: p.Input, Output: p.Output, CacheRead: cmp.Or(p.CacheRead, p.Input), CacheWrite: cmp.Or(p.CacheWrite, p.Input),
		}}}
	}
	prices, err := llm.LoadPrices(more)
	if err != nil {
		return nil, &nexus.Error{
			Code: nexus.CodeInvalidConfig, Message: "read the prices", Cause: err,
			Hint: "Fix pricing in the user's configuration file.",
		}
	}
	list := sync.OnceValues(func() (catalog.StoredModelCatalog, error) { return catalog.LoadStoredCatalog(ModelCatalogPath(env)) })
	prices.SetFallback(func() map[string]llm.ModelTableEntry {
		kept, _ := list() // nexus models reports errors in it
		return kept.Models
	})
	able, err := llm.LoadCapabilities()
	if err != nil {
		return nil, err
	}
	return &ModelPicker{config: c, env: env, now: now, prices: prices, public: list, able: able, find: findServedModel, keys: newProviderKeyCache(apikey.KeyStore{Env: env}), made: map[string]llm.Model{}, limits: ratelimit.NewAccountLimiters(now)}, nil
}

// PublicModelList returns the stored public list of models. It is read once, at the first call.
func (m *ModelPicker) PublicModelList() (catalog.StoredModelCatalog, error) { return m.public() }

// ModelName returns the provider/model of a role at a tier. A task's pin has precedence over the
// role's, and that over the tier's.
func (m *ModelPicker) ModelName(role nexus.Role, tier nexus.Tier, pin string) (string, error) {
	chain, err := m.modelChain(role, tier, pin)
	name, _, _ := strings.Cut(chain, ",")
	return name, err
}

// modelChain returns the model of a role, and after commas the replacements while that one is
// not available.
func (m *ModelPicker) modelChain(role nexus.Role, tier nexus.Tier, pin string) (string, error) {
	r := m.config.Roles[role]
	tier = m.effectiveTier(role, tier)
	if pin == "" || role == nexus.Reviewer || role == nexus.Verifier || role == nexus.Reproducer || role == nexus.Scout {
		pin = cmp.Or(r.Model, m.config.Models[tier])
	}
	if pin != "" {
		return pin, nil
	}
	usual, err := m.defaultModel(tier)
	if usual != "" || err != nil {
		return usual, err
	}
	for _, near := range []nexus.Tier{nexus.Balanced, nexus.Strong} { // a weaker tier than any that is set
		if name := m.config.Models[near]; name != "" {
			return name, nil
		}
	}
	if name := m.servedModel(); name != "" {
		return name, nil
	}
	return "", m.missingModelError(role, tier)
}

// effectiveTier returns the tier of a role. Writing roles use the task's tier, all others the
// configured one.
func (m *ModelPicker) effectiveTier(role nexus.Role, tier nexus.Tier) nexus.Tier {
	r := m.config.Roles[role]
	if r.Tier != "" && role != nexus.Coder && role != nexus.Tester {
		tier = r.Tier
	}
	return cmp.Or(tier, r.Tier, nexus.Fast)
}

// missingModelError returns the error that there is no model, with all the settings that are needed.
func (m *ModelPicker) missingModelError(role nexus.Role, tier nexus.Tier) error {
	e := &nexus.Error{
		Code: nexus.CodeNoProvider, Message: fmt.Sprintf("no model is set for the role %s at the tier %s", role, tier),
		Hint: "Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, keep a key with nexus config key set PROVIDER, or log in to an agent program such as Claude Code: nexus agents lists them.",
	}
	for _, provider := range []string{"openai", "anthropic"} {
		if base := m.baseURL(provider); base != "" {
			e.Message = fmt.Sprintf("%s serves models, but none is named", sanitize.RevealHidden(base))
			e.Hint = fmt.Sprintf("Name one with --model %s/NAME or models.fast in a configuration file; %s",
				provider, m.priceHint(provider+"/NAME")) + "If it needs a key, set " + keyVariable(config.ProviderSettings{}, provider) + "."
			return e
		}
	}
	return e
}

// priceHint returns how to set the price of a model: lines that can be pasted at the end of the
// file, whatever is before them.
func (m *ModelPicker) priceHint(name string) string {
	return fmt.Sprintf("set its prices, in dollars per million tokens, at the end of %s:\n"+
		"[pricing.%q]\ninput = 0\noutput = 0\n", m.configFile(), name)
}

// configFile returns the path of the user's own configuration file.
func (m *ModelPicker) configFile() string {
	if dir := m.env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "nexus", "config.toml")
	}
	return "~/.config/nexus/config.toml"
}

// CallPrice returns the price of a call of a provider/model now, and false if it is unknown.
func (m *ModelPicker) CallPrice(name string, u nexus.Usage) (nexus.Money, bool) {
	price, ok := m.prices.PriceOnUsualTerms(name, u, m.now())
	return price, ok || m.isFree(name)
}

// CheckAllRoles returns an error unless every role has a model at every tier that a run may
// need, so that no work is begun, and paid for, that cannot be completed.
func (m *ModelPicker) CheckAllRoles(p *nexus.Plan) error {
	for _, tier := range []nexus.Tier{nexus.Fast, nexus.Balanced, nexus.Strong} {
		for _, role := range []nexus.Role{nexus.Coder, nexus.Tester, nexus.Editor, nexus.Reviewer, nexus.Merger, nexus.Planner, nexus.Router, nexus.Scout, nexus.Verifier, nexus.Reproducer, nexus.Checker, nexus.Interviewer} {
			if err := m.CheckRole(role, tier, ""); err != nil {
				return err
			}
		}
	}
	if p == nil {
		return nil
	}
	for _, t := range p.Tasks {
		if err := m.CheckRole(nexus.Coder, t.Tier, t.Model); err != nil {
			return fmt.Errorf("task %s: %w", t.ID, err)
		}
	}
	return nil
}

// PickModel returns a model that is ready to be called, with its price and its replacements.
func (m *ModelPicker) PickModel(role nexus.Role, tier nexus.Tier, pin string) (worker.PricedModel, error) {
	names, err := m.modelsOfRole(role, tier, pin)
	if err != nil {
		return worker.PricedModel{}, err
	}
	var first worker.PricedModel
	for i, name := range names {
		picked, err := m.modelByName(name)
		if err != nil {
			return worker.PricedModel{}, err
		}
		if i == 0 {
			first = picked
		} else {
			first.Else = append(first.Else, picked)
		}
	}
	return first, nil
}

// modelByName returns a model by its name.
func (m *ModelPicker) modelByName(name string) (worker.PricedModel, error) {
	provider, model, ok := llm.SplitModelName(name)
	if !ok {
		return worker.PricedModel{}, m.unknownModelError(name, "a model is named provider/model")
	}
	if all := m.providerNames(); !slices.Contains(all, provider) {
		return worker.PricedModel{}, &nexus.Error{
			Code: nexus.CodeModelUnknown, Message: fmt.Sprintf("model %q: there is no provider %q; known are %s", name, provider, strings.Join(all, ", ")),
			Hint: fmt.Sprintf("Use one of them, or give the address of %s: providers.%s.base_url in %s.", sanitize.RevealHidden(provider), sanitize.RevealHidden(provider), m.configFile()),
		}
	}
	_, priced := m.CallPrice(name, nexus.Usage{})
	if !priced && m.config.Limits.RunTokens == 0 {
		return worker.PricedModel{}, m.unknownModelError(name, "it has no known price")
	}
	client, err := m.providerClient(provider)
	if err != nil {
		return worker.PricedModel{}, err
	}
	listed, _ := m.prices.FindModel(name)
	picked := worker.PricedModel{
		Model: client, Name: name, Wire: model, Context: listed.Context,
	}
	picked.Price, picked.Worst = m.modelPricing(provider, name)
	if !priced { // its tokens count, against a cap of their own
		picked.Tokens = func(r llm.Request) int64 { return llm.EstimateRequest(r) + r.MaxTokens }
	}
	return picked, nil
}

// ContextSize returns the size of a model's context window in tokens; 0 if it is unknown.
func (m *ModelPicker) ContextSize(name string) int64 {
	listed, _ := m.prices.FindModel(name)
	return listed.Context
}

// modelPricing returns the price functions of a model: the cost of a call on the terms of its
// answer, and its worst case on the terms of the last answer.
func (m *ModelPicker) modelPricing(provider, name string) (price func(nexus.Usage, llm.BillingTerms) nexus.Money, worst func(llm.Request) nexus.Money) {
	percent := cmp.Or(nexus.Money(m.config.Providers[provider].Percent), 100)
	home := ""
	if u, err := url.Parse(m.baseURL(provider)); err == nil {
		home = u.Hostname()
	}
	var last atomic.Pointer[llm.BillingTerms]
	last.Store(&llm.BillingTerms{Region: home})
	price = func(u nexus.Usage, t llm.BillingTerms) nexus.Money {
		t.Region = cmp.Or(t.Region, home)
		last.Store(&llm.BillingTerms{Service: t.Service, Region: t.Region})
		cost, _ := m.prices.PriceOnTerms(name, u, t, m.now())
		return cost * percent / 100
	}
	worst = func(r llm.Request) nexus.Money {
		cost, _ := m.prices.WorstCost(name, r, *last.Load(), m.now())
		return cost * percent / 100
	}
	return price, worst
}

func (m *ModelPicker) unknownModelError(name, why string) error {
	return &nexus.Error{
		Code: nexus.CodeModelUnknown, Message: fmt.Sprintf("model %q: %s", name, why),
		Hint: "Use a model that nexus models lists, fetch the public list with nexus models refresh, or " + m.priceHint(name) + "Or allow tokens without a known price: budget.tokens.",
	}
}

// providerNames returns the names of the providers that can be called, sorted.
func (m *ModelPicker) providerNames() []string {
	names := slices.Collect(maps.Keys(m.config.Providers))
	for _, k := range BuiltinProviders() {
		names = append(names, k.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// providerClient returns the provider's client, created at the first call.
func (m *ModelPicker) providerClient(name string) (llm.Model, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.made[name]; c != nil {
		return c, nil
	}
	p := m.providerSettings(name)
	key, err := m.providerKey(name)
	if err != nil {
		return nil, err
	}
	if key == "" && keyVariable(p, name) != "" && (p.KeyEnv != "" || m.baseURL(name) == "") { // the user's own address may need none
		return nil, missingKeyError(name, keyVariable(p, name))
	}
	c, err := m.newProvider(name, p, key)
	if err != nil {
		return nil, err
	}
	m.made[name] = m.able.StaggerForCache(m.able.FitRequests(c, name), name, m.now)
	if m.tap.player == nil { // a recording has no limits
		m.made[name] = m.rateLimitAccount(name, p, key).LimitModel(m.made[name])
	}
	return m.made[name], nil
}
