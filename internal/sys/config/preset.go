package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config/valuekind"
)

// Origins that are not files: a preset overrides the defaults and is overridden by every file; a
// tier without a model uses the nearest tier that has one.
const (
	LayerPreset  SettingLayer = "preset"
	LayerNearest SettingLayer = "nearest tier"
)

// PresetNames returns the names of the presets.
func PresetNames() []string { return []string{"conservative", "balanced", "aggressive", ImprovePreset} }

// ImprovePreset is the default preset of nexus improve.
const ImprovePreset = "improve"

// presetValues returns the values of a preset, in the syntax of flags. The balanced one is the
// defaults.
func presetValues(preset string) map[string]string {
	switch preset {
	case "conservative":
		return map[string]string{"approval": string(nexus.ApproveCommits), "alerts.denied": string(nexus.ReactPause), "limits.parallel": "2", "budget.run": "2", "budget.day": "10"}
	case "aggressive":
		return map[string]string{"approval": string(nexus.ApproveNone), "limits.parallel": "8", "budget.run": "20", "budget.day": "80"}
	case ImprovePreset:
		return map[string]string{"alerts.denied": string(nexus.ReactStop), "approval": string(nexus.ApproveCommits), "limits.parallel": "2", "limits.run_time": "2h", "budget.run": "2", "budget.day": "10"}
	default:
		return nil
	}
}

// describePreset lists the values of a preset, for people.
func describePreset(preset string) string {
	var parts []string
	for name, text := range presetValues(preset) {
		parts = append(parts, name+" "+text)
	}
	slices.Sort(parts)
	if len(parts) == 0 {
		parts = []string{"the defaults"}
	}
	return preset + " (" + strings.Join(parts, ", ") + ")"
}

// loadPreset applies the chosen preset over the defaults. Errors in the sources are reported later,
// when they are loaded.
func (l *settingsLoader) loadPreset(s SettingSources) error {
	look := newLoader()
	look.instead = s.Instead
	_ = look.loadSettingsFile(LayerSystem, s.System)
	_ = look.loadSettingsFile(LayerUser, s.User)
	_ = look.loadEnviron(s.Environ)
	_ = look.loadFlags(s.Flags, nil)
	var all []settingSourceValue
	for name, text := range presetValues(look.config.Preset) {
		all = append(all, settingSourceValue{path: strings.Split(name, "."), raw: text, text: true, origin: SettingOrigin{LayerPreset, look.config.Preset}})
	}
	return l.applyLayer(all)
}

// fillMissingTiers gives a tier without a model the model of the nearest weaker tier. So a weaker
// tier never gets a more expensive model.
func (l *settingsLoader) fillMissingTiers() {
	last := ""
	for _, tier := range []nexus.Tier{nexus.Fast, nexus.Balanced, nexus.Strong} {
		name := "models." + string(tier)
		switch model := l.config.Models[tier]; {
		case model != "":
			last = name
		case last != "":
			storeMapEntry(&l.config.Models, tier, l.config.Models[nexus.Tier(strings.TrimPrefix(last, "models."))])
			l.origins[name] = SettingOrigin{LayerNearest, last}
		}
	}
}

// refuseLessApproval refuses a project's setting that lets more happen without a person.
func refuseLessApproval(before nexus.ApprovalMode, to any) error {
	now, _ := to.(string)
	if a := nexus.ApprovalMode(now); !a.NeedsApproval(before) {
		return fmt.Errorf("the project's file may not ask for less approval than %s: approval = %s", before, valuekind.QuoteForeign(now))
	}
	return nil
}

// refuseFewerReviews refuses a project's setting with which changes land without the person who
// wants to review them.
func refuseFewerReviews(before nexus.PersonReviewRequirement, to any) error {
	now, _ := to.(string)
	levels := nexus.PersonReviewRequirements()
	if slices.Index(levels, nexus.PersonReviewRequirement(now)) < slices.Index(levels, before) {
		return fmt.Errorf("the project's file may not let fewer changes wait for a person than %s: review.people = %s", before, valuekind.QuoteForeign(now))
	}
	return nil
}
