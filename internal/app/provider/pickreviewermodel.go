package provider

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// PickReviewerModel returns the model with which a role reads the work of the author, a
// provider/model, and why it is that one: a different model if there is one, see
// [route.ChooseReviewModel]. A role that is pinned to a model uses that. A model that failed at the
// work is only used if there is no other but the author. A model below the tier least is never
// used for being different.
func (m *ModelPicker) PickReviewerModel(role nexus.Role, tier, least nexus.Tier, author, failed string) (worker.PricedModel, string, error) {
	usual, err := m.PickModel(role, tier, "")
	if err != nil || m.config.Roles[role].Model != "" {
		return usual, "roles." + string(role) + ".model names it", err
	}
	others := append([]worker.PricedModel{usual}, usual.Else...)
	var can []string
	for _, o := range others {
		can = append(can, o.Name)
	}
	for _, name := range m.nearbyModels(m.effectiveTier(role, tier), least) {
		if slices.Contains(can, name) {
			continue
		}
		if ready, err := m.modelByName(name); err == nil { // else it cannot be called
			can, others = append(can, name), append(others, ready)
		}
	}
	if rest := slices.DeleteFunc(slices.Clone(can), func(name string) bool { return name == failed || name == author }); failed != "" && len(rest) > 0 {
		can, others = rest, slices.DeleteFunc(others, func(o worker.PricedModel) bool { return !slices.Contains(rest, o.Name) })
	}
	name, why := route.ChooseReviewModel(author, can)
	chosen := usual
	if i := slices.Index(can, name); i >= 0 {
		chosen = others[i]
	}
	chosen.Else = nil
	for _, o := range append([]worker.PricedModel{usual}, usual.Else...) { // the replacements of the tier's model
		if o.Name != chosen.Name && len(chosen.Else) < route.MaxFallbackModels {
			o.Else = nil
			chosen.Else = append(chosen.Else, o)
		}
	}
	return chosen, why, nil
}

// nearbyModels returns the models of a tier, then those of stronger ones, then those of weaker
// ones that are not below the least, the nearest first.
func (m *ModelPicker) nearbyModels(tier, least nexus.Tier) []string {
	all := []nexus.Tier{nexus.Fast, nexus.Balanced, nexus.Strong}
	i := max(slices.Index(all, tier), 0)
	order := slices.Clone(all[i:])
	for _, weaker := range slices.Backward(all[:i]) {
		order = append(order, weaker)
	}
	var names []string
	for _, t := range order {
		if t.IsBelow(least) {
			continue
		}
		if set := m.config.Models[t]; set != "" {
			names = append(names, strings.Split(set, ",")...)
			continue
		}
		for _, k := range BuiltinProviders() {
			if m.hasKey(k.Name) {
				names = append(names, k.Name+"/"+k.usual[t])
			}
		}
	}
	return names
}
