// Package modelscmd implements the commands "nexus models" and "nexus models refresh".
package modelscmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// modelsAnswer is the JSON output of `models`.
type modelsAnswer struct {
	Provider string          `json:"provider,omitzero"` // the provider that was asked
	Service  string          `json:"service,omitzero"`  // service tier of the prices
	Curated  string          `json:"curated"`           // date of the built-in table
	List     *publicListInfo `json:"list,omitempty"`    // the public list, if it was downloaded
	Models   []modelInfo     `json:"models"`
	Left     int             `json:"left,omitzero"` // number of omitted models: --all
}

type publicListInfo struct {
	From    string    `json:"from"`
	Fetched time.Time `json:"fetched"`
	Models  int       `json:"models"`
}

type modelInfo struct {
	Name    string               `json:"name"`             // provider/model
	Context int64                `json:"context,omitzero"` // limit of prompt and answer together, in tokens
	Output  int64                `json:"output,omitzero"`  // limit of an answer, in tokens
	Price   *llm.TokenPriceRate  `json:"price"`            // current, for a short prompt; null: unknown
	Rates   []llm.TokenPriceRate `json:"rates,omitempty"`  // all rates, at the usual service tier
	Serves  []string             `json:"serves,omitempty"` // tiers, and roles that are pinned to it
	Source  llm.PriceSource      `json:"source,omitzero"`
	Dated   string               `json:"dated,omitzero"`
	Note    string               `json:"note,omitzero"`
}

// Options are the options of "nexus models".
type Options struct {
	Console  *console.Console
	Provider string // the provider to ask for its models; empty: all that are known
	All      bool   // also models of providers that are not set up
	Service  string // service tier of the prices; empty: the usual one
}

// New returns the command with the one below it. It calls run with the parsed options; nil runs the
// command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = listModels
	}
	command := c.Command("models [PROVIDER] [--json]", "list models with prices, sizes and uses",
		func(ctx context.Context, args []string) error {
			o.Provider = console.FirstArg(args)
			return run(ctx, o)
		}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePerson)
	command.Args = console.ArgCount(0, 1)
	command.Flags().BoolVar(&o.All, "all", false, "also list models that only the public list has, of providers that are not set up")
	command.Flags().StringVar(&o.Service, "service", "", "show prices of this service `TIER`, if the provider has it: batch, flex or priority")
	c.JSONFlag(command)
	command.AddCommand(NewRefresh(c, nil))
	return command
}

// listModels prints the known models, or those that a provider lists.
func listModels(ctx context.Context, o *Options) error {
	a := o.Console
	settings, _, err := a.LoadSettings()
	if err != nil {
		return err
	}
	known, err := provider.NewModelPicker(settings, a.Env, a.Now)
	if err != nil {
		return err
	}
	if tiers := known.ServiceTiers(); o.Service != "" && !slices.Contains(tiers, o.Service) {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "no provider has the service tier " + view.QuoteForTerminal(o.Service), Hint: "Use " + strings.Join(tiers, ", ") + ".",
		}
	}
	known.UseKeysAndTransport(a.KeyStore(), provider.RecordingTransport{})
	m := modelsAnswer{Provider: o.Provider, Service: o.Service, Curated: known.PriceDate(), List: readPublicList(a, known)}
	var rows []provider.ModelListEntry
	if m.Provider == "" {
		rows, m.Left = known.KnownModels(o.Service, o.All)
	} else if rows, err = known.ListProviderModels(ctx, m.Provider, o.Service); err != nil {
		return err
	}
	m.Models = make([]modelInfo, len(rows))
	for i, r := range rows {
		m.Models[i] = modelOf(r)
	}
	return a.Answer(m, func(s view.OutputStyle) string { return modelTable(s, m) })
}

// readPublicList returns the facts about the public list. An unreadable list is reported to people, and
// counts as none.
func readPublicList(a *console.Console, known *provider.ModelPicker) *publicListInfo {
	k, err := known.PublicModelList()
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			a.Say("%s: %s", view.EscapeForTerminal(err.Error()), "fetch it again with nexus models refresh")
		}
		return nil
	}
	return &publicListInfo{k.From, k.Fetched, len(k.Models)}
}

func modelOf(r provider.ModelListEntry) modelInfo {
	m := modelInfo{Name: r.Name, Context: r.Context, Output: r.Output, Rates: r.Rates, Serves: r.Serves, Source: r.Source, Dated: r.Dated, Note: r.Note}
	if r.Priced {
		m.Price = &r.Rate
	}
	return m
}

// wide is the number of columns for all facts about a model.
const wide = 90

func modelTable(s view.OutputStyle, m modelsAnswer) string {
	head := []string{"model", "context", "output", "in", "out", "cached", "serves", "source"}
	narrow := !s.Plain && s.Width > 0 && s.Width < wide
	rows := make([][]string, len(m.Models))
	for i, r := range m.Models {
		in, out, cached := "?", "?", "?"
		if r.Price != nil {
			in, out, cached = formatDollars(r.Price.Input), formatDollars(r.Price.Output), formatDollars(r.Price.CacheRead)
		}
		source := string(r.Source)
		if s.Plain || s.Width >= wide+20 {
			source = strings.TrimSpace(source + " " + r.Dated)
		}
		rows[i] = []string{view.EscapeForTerminal(r.Name), formatTokens(s, r.Context), formatTokens(s, r.Output), in, out, cached, strings.Join(r.Serves, ", "), source}
		if narrow { // people need the full name
			rows[i] = slices.Delete(rows[i], 2, 3)
		}
	}
	if narrow {
		head = slices.Delete(head, 2, 3)
	}
	text := view.DrawTable(s, head, rows)
	if s.Plain {
		return text
	}
	text += s.Dim("current prices, in dollars per million tokens; ? is unknown") + "\n"
	text += s.Dim("curated: the built-in table, of "+m.Curated) + "\n"
	if l := m.List; l != nil {
		text += s.Dim(fmt.Sprintf("refreshed: fetched on %s from %s", l.Fetched.Format(time.DateOnly), view.EscapeForTerminal(l.From))) + "\n"
	}
	if m.Left > 0 {
		text += s.Dim(fmt.Sprintf("the public list has %s more; show them with --all", view.CountWithNoun(m.Left, "model"))) + "\n"
	}
	return text
}

// formatDollars formats an amount without the dollar sign and without trailing zeros.
func formatDollars(m nexus.Money) string {
	data, _ := m.MarshalJSON() // never fails
	return string(data)
}

// formatTokens formats a number of tokens: in full for a program.
func formatTokens(s view.OutputStyle, n int64) string {
	switch {
	case n == 0:
		return "?"
	case s.Plain:
		return strconv.FormatInt(n, 10)
	case n >= 1_000_000:
		return strconv.FormatFloat(float64(n/10_000)/100, 'f', -1, 64) + "M"
	case n >= 1000:
		return strconv.FormatInt(n/1000, 10) + "k"
	default:
		return strconv.FormatInt(n, 10)
	}
}
