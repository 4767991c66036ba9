package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// ModelCatalogPath returns the path of the stored public list of models.
func ModelCatalogPath(env func(string) string) string {
	dir := env("XDG_CACHE_HOME")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(env("HOME"), ".cache")
	}
	return filepath.Join(dir, "nexus", "models.json")
}

// ModelListEntry describes a model.
type ModelListEntry struct {
	llm.ModelTableEntry

	Name   string             // provider/model
	Rate   llm.TokenPriceRate // now, for a short prompt
	Priced bool               // the rate is known
	Serves []string           // tiers, and roles that are pinned to it
}

// PriceDate returns the day of the built-in table.
func (m *ModelPicker) PriceDate() string { return m.prices.Dated }

// ServiceTiers returns the tiers of service with known prices, besides the usual one.
func (m *ModelPicker) ServiceTiers() []string { return m.prices.ServiceTiers() }

// KnownModels returns the known models, ordered by name, and the number of omitted ones. It
// omits models that only the public list has, of providers without settings, unless all is
// true. Prices are those of a tier of service, "" for the usual one. It asks no provider,
// except a server of the user's own that would be used and is not named.
func (m *ModelPicker) KnownModels(service string, all bool) (rows []ModelListEntry, left int) {
	serves := m.usesByModel()
	shown := map[string]bool{}
	for _, name := range m.UsedProviders() {
		shown[name] = true
	}
	names := append(m.prices.ModelNames(), slices.Collect(maps.Keys(serves))...)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		r := m.modelRow(name, service)
		provider, _, _ := llm.SplitModelName(name)
		if r.Serves = serves[name]; r.Source == llm.PriceRefreshed && !all && !shown[provider] && len(r.Serves) == 0 {
			left++
			continue
		}
		rows = append(rows, r)
	}
	return rows, left
}

func (m *ModelPicker) modelRow(name, service string) ModelListEntry {
	r := ModelListEntry{Name: name}
	r.ModelTableEntry, _ = m.prices.FindModel(name)
	r.Rate, r.Priced = m.prices.RateAt(name, service, 0, m.now())
	r.Priced = r.Priced || m.isFree(name)
	return r
}

// usesByModel returns the uses of each model that would be used.
func (m *ModelPicker) usesByModel() map[string][]string {
	all := map[string][]string{}
	for _, tier := range []nexus.Tier{nexus.Fast, nexus.Balanced, nexus.Strong} {
		if name, err := m.ModelName(nexus.Coder, tier, ""); err == nil { // else no model serves it
			all[name] = append(all[name], string(tier))
		}
	}
	for _, role := range slices.Sorted(maps.Keys(m.config.Roles)) {
		if name := m.config.Roles[role].Model; name != "" {
			all[name] = append(all[name], string(role))
		}
	}
	return all
}

// ListProviderModels asks a provider for its models. Details that it does not return come from the known
// models.
func (m *ModelPicker) ListProviderModels(ctx context.Context, provider, service string) ([]ModelListEntry, error) {
	if builtinProviderNamed(provider).Name == "" && m.config.Providers[provider] == (config.ProviderSettings{}) {
		return nil, &nexus.Error{
			Code: nexus.CodeNotFound, Message: fmt.Sprintf("there is no provider %q", provider),
			Hint: "nexus models lists models with their providers; providers.NAME in the user's configuration adds one.",
		}
	}
	if !m.hasKey(provider) && keyVariable(m.providerSettings(provider), provider) != "" && m.baseURL(provider) == "" {
		return nil, missingKeyError(provider, keyVariable(m.providerSettings(provider), provider))
	}
	all, err := m.listModels(ctx, provider)
	if err != nil {
		return nil, modelListError(provider, err)
	}
	serves := m.usesByModel()
	rows := make([]ModelListEntry, 0, len(all))
	for _, a := range all {
		r := m.modelRow(provider+"/"+a.Name, service)
		if r.Serves = serves[r.Name]; a.Context > 0 {
			r.Context = a.Context
		}
		if a.Output > 0 {
			r.Output = a.Output
		}
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b ModelListEntry) int { return strings.Compare(a.Name, b.Name) })
	return rows, nil
}

func missingKeyError(provider, variable string) error {
	return &nexus.Error{
		Code: nexus.CodeNoKey, Message: "the provider " + provider + " has no key",
		Hint: "Set " + variable + " in the environment, or keep a key with nexus config key set " + provider + ".",
	}
}

// modelListError returns the error that a provider did not list its models.
func modelListError(provider string, err error) error {
	if e, ok := errors.AsType[*nexus.Error](err); ok {
		return e
	}
	f := &nexus.Error{
		Code: nexus.CodeProvider, Message: "ask " + provider + " for its models", Cause: err,
		Hint: "Check its address and the network; nexus models without a provider needs neither.",
	}
	if e, ok := errors.AsType[*llm.ModelCallError](err); ok && e.Class.ReactionTo().Do == llm.RemedyAskPerson {
		f.Code, f.Hint = nexus.CodeAuth, "Set a valid key, or settle the account's balance."
	}
	return f
}
