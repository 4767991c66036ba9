package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// checkKeys checks the settings of providers, and asks each for its models, which costs nothing.
func checkKeys(ctx context.Context, a *console.Console, c config.Config) []Check {
	var all []Check
	keys, err := a.KeyStore().List(provider.ProviderKeyVariables(c))
	if err != nil {
		all = append(all, checkOf("key", "", err))
	}
	known := map[string]bool{}
	for _, k := range keys {
		if !known[k.Provider] {
			all = append(all, Check{Name: "key", State: Fine, Detail: fmt.Sprintf("%s has one, from the %s (%s)", k.Provider, k.Source, k.Where)})
		}
		known[k.Provider] = true
	}
	for _, k := range provider.BuiltinProviders() {
		if a.Env(k.BaseEnv) != "" {
			all = append(all, Check{Name: "address", State: Fine, Detail: k.BaseEnv + " is set"})
		}
	}
	for name, p := range c.Providers {
		if p.KeyEnv != "" && !known[name] {
			all = append(all, Check{Name: "key", State: Notice, Detail: p.KeyEnv + " of provider " + name + " is not set", Hint: "Export it, or remove the provider."})
		}
	}
	models, err := provider.NewModelPicker(c, a.Env, a.Now)
	if err != nil {
		return append(all, checkOf("prices", "", err))
	}
	models.UseKeysAndTransport(a.KeyStore(), provider.RecordingTransport{})
	used := models.UsedProviders()
	for _, name := range used {
		all = append(all, checkProvider(models.CheckProvider(ctx, name)))
	}
	if len(used) > 0 {
		all = append(all, checkModels(a, c))
	} else {
		all = append(all, Check{
			Name: "key", State: Blocker, Detail: "no provider is set up",
			Hint: "Export ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, store a key with nexus config key set PROVIDER, or export OPENAI_BASE_URL of your own server.",
		})
	}
	return all
}

// checkProvider reports the answer of a provider. Only a refused key blocks, because an
// unreachable provider may be back when a run begins.
func checkProvider(s provider.ProviderAvailability) Check {
	if s.Err != nil {
		c := Check{Name: "provider", State: Notice, Detail: view.EscapeForTerminal(s.Name + ": " + s.Err.Error()), Hint: "Check its address and the network. A run waits a while, then stops."}
		if e, ok := errors.AsType[*llm.ModelCallError](s.Err); ok && e.Class.ReactionTo().Do == llm.RemedyAskPerson {
			c.State, c.Hint = Blocker, "Set a valid key, or settle the account's balance."
		}
		return c
	}
	c := Check{Name: "provider", State: Fine, Detail: fmt.Sprintf("%s answers: %s", s.Name, view.CountWithNoun(s.Models, "model"))}
	if len(s.Lacks) > 0 {
		c.State, c.Detail = Notice, c.Detail+", and not "+strings.Join(s.Lacks, ", ")
		c.Hint = "Set models that it has: models.fast, models.balanced and models.strong."
	}
	return c
}
