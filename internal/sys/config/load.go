package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/toml/v2"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/v2"
	gotoml "github.com/pelletier/go-toml/v2"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/config/valuekind"
)

// SettingSources are the sources of settings, the weakest first.
type SettingSources struct {
	System  string            // path of the organisation's file; a missing file is skipped
	User    string            // path of the user's file; a missing file is skipped
	Project string            // path of the project's file; a missing file is skipped
	Environ []string          // "NAME=value", as from os.Environ
	Flags   map[string]string // by key, in the syntax of environment variables
	Named   map[string]string // flag of a key for messages, such as --budget; may be nil

	Instead map[string]string // texts of files by path, used instead of the files on disk
}

// DefaultSources returns the default paths of the two files: the user's under configHome (XDG_CONFIG_HOME
// or ~/.config), and the project's at its root.
func DefaultSources(configHome, root string) SettingSources {
	return SettingSources{User: filepath.Join(configHome, "nexus", "config.toml"), Project: filepath.Join(root, "nexus.toml")}
}

// SettingLayer is a kind of source.
type SettingLayer string

// The layers, weakest first.
const (
	LayerDefault SettingLayer = "default"
	LayerSystem  SettingLayer = "organisation"
	LayerUser    SettingLayer = "user"
	LayerProject SettingLayer = "project"
	LayerEnv     SettingLayer = "environment"
	LayerFlag    SettingLayer = "flag"
)

// SettingOrigin is the origin of a value.
type SettingOrigin struct {
	Layer SettingLayer
	Where string // "path:line", the variable's name, or the flag's key
}

// SettingOrigins has the origin of each key that a source sets. All others have their defaults.
type SettingOrigins map[string]SettingOrigin

// OriginOf returns the origin of a key.
func (o SettingOrigins) OriginOf(name string) SettingOrigin {
	return cmp.Or(o[name], SettingOrigin{Layer: LayerDefault})
}

// keyDelimiter separates the segments of a key inside koanf. Model names contain dots, so it is a
// character that names cannot contain.
const keyDelimiter = "\x1f"

// maxFile limits the size of a file, in bytes.
const maxFile = 1 << 20

// LoadSources reads the sources. All problems together are one [nexus.Error] with
// [nexus.CodeInvalidConfig]: unknown keys, values of the wrong type, settings that their source
// must not make.
func LoadSources(s SettingSources) (Config, SettingOrigins, error) {
	l := newLoader()
	l.instead = s.Instead
	err := errors.Join(
		l.loadPreset(s),
		l.loadSettingsFile(LayerSystem, s.System),
		l.loadSettingsFile(LayerUser, s.User),
		l.loadSettingsFile(LayerProject, s.Project),
		l.loadEnviron(s.Environ),
		l.loadFlags(s.Flags, s.Named),
	)
	if err != nil {
		return Config{}, nil, &nexus.Error{
			Code: nexus.CodeInvalidConfig, Message: "configuration", Cause: err,
			Hint: "Correct the setting; nexus config --explain lists every value, docs/config.md every key.",
		}
	}
	if err := l.checkRoleTiers(); err != nil {
		return Config{}, nil, err
	}
	l.fillMissingTiers()
	l.config.deriveLimits()
	return l.config, l.origins, nil
}

// linesPerFile is the number of changed lines for which the definition of done allows one changed file.
const linesPerFile = 50

// deriveLimits sets the limits that follow from settings.
func (c *Config) deriveLimits() {
	// A session of a task cannot outlast it, and those of planners and reviewers need no other limit.
	c.Limits.SessionTime = c.Limits.TaskTime
	// A change that is small in lines is small in files, too.
	c.Done.Files = (c.Done.Lines + linesPerFile - 1) / linesPerFile
	// New lines need as many tests as the others.
	c.Done.NewMinimum = c.Done.Minimum
}

// checkRoleTiers refuses a tier for a role that uses the tier of its task.
func (l *settingsLoader) checkRoleTiers() error {
	for _, role := range []nexus.Role{nexus.Coder, nexus.Tester} {
		if tier := l.config.Roles[role].Tier; tier != "" {
			key := "roles." + string(role) + ".model"
			return &nexus.Error{
				Code: nexus.CodeInvalidConfig, Message: fmt.Sprintf("configuration: %s: %s = %q has no effect: coder and tester work at the tier of the task, which rises as attempts fail", l.origins.OriginOf(key).Where, key, tier),
				Hint: fmt.Sprintf("Set the tier where tasks start with --tier %s or in the plan, or by their complexity with routing.simple and so on; or name one model for the role, as provider/model.", tier),
			}
		}
	}
	return nil
}

// settingsLoader applies the layers one after the other.
type settingsLoader struct {
	keys    []SettingKey
	merged  *koanf.Koanf
	config  Config
	origins SettingOrigins
	instead map[string]string
}

func newLoader() *settingsLoader {
	return &settingsLoader{keys: MemberKeys(), merged: koanf.New(keyDelimiter), config: DefaultConfig(), origins: SettingOrigins{}}
}

// settingLayerValues is a checked source in the form that koanf loads.
type settingLayerValues map[string]any

// ReadBytes is called by koanf only with a parser, and layers have none.
func (l settingLayerValues) ReadBytes() ([]byte, error) {
	return nil, errors.New("a layer has no bytes")
}

// Read returns the layer.
func (l settingLayerValues) Read() (map[string]any, error) { return l, nil }

// settingSourceValue is one setting in the form of its source.
type settingSourceValue struct {
	path   []string
	raw    any
	text   bool // raw is text that must be parsed, not a typed value
	origin SettingOrigin
	named  string // its name in messages, if that is not the key
}

func (l *settingsLoader) loadSettingsFile(of SettingLayer, path string) error {
	if path == "" {
		return nil
	}
	data, err := l.settingsFileText(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	tree, err := parseTOML(data)
	if err != nil {
		return tomlError(path, err)
	}
	where := func(p []string) string {
		if n := findSettingLine(data, p); n > 0 {
			return fmt.Sprintf("%s:%d", path, n)
		}
		return path
	}
	var all []settingSourceValue
	var bad []error
	l.walkSettings(tree, nil, func(p []string, v any, err error) {
		if r, ok := findRemovedSetting(p); ok && err == nil {
			l.warnRemoved(where(p), r)
			return
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("%s: %w", where(p), err))
			return
		}
		all = append(all, settingSourceValue{path: p, raw: v, origin: SettingOrigin{of, where(p)}})
	})
	return errors.Join(append(bad, l.applyLayer(all))...)
}

// settingsFileText returns the text of a file.
func (l *settingsLoader) settingsFileText(path string) ([]byte, error) {
	if text, ok := l.instead[path]; ok {
		return []byte(text), nil
	}
	return ReadFile(path)
}

// parseTOML reads TOML. The input is untrusted, so a panic in the parser is reported as a broken file.
func parseTOML(data []byte) (tree map[string]any, err error) {
	defer func() {
		if p := recover(); p != nil {
			tree, err = nil, fmt.Errorf("not TOML: %v", p)
		}
	}()
	if slices.Contains(data, 0) {
		return nil, errors.New("not TOML: holds a NUL byte")
	}
	return toml.Parser().Unmarshal(data)
}

// ReadFile returns the text of a settings file.
func ReadFile(path string) ([]byte, error) {
	info, err := os.Stat(path) // before opening: opening a pipe would wait for a writer
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxFile)
	}
	return data, nil
}

func tomlError(path string, err error) error {
	if d, ok := errors.AsType[*gotoml.DecodeError](err); ok {
		row, column := d.Position()
		return fmt.Errorf("%s:%d:%d: %s", path, row, column, strings.TrimPrefix(d.Error(), "toml: "))
	}
	return fmt.Errorf("%s: %s", path, strings.TrimPrefix(err.Error(), "toml: "))
}

// walkSettings calls yield for every value of the tree that has a key or had one, in the order of the names, and
// with an error for every unknown key.
func (l *settingsLoader) walkSettings(tree map[string]any, at []string, yield func(path []string, v any, err error)) {
	names := make([]string, 0, len(tree))
	for name := range tree {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		path, v := append(slices.Clone(at), name), tree[name]
		if len(at) == 0 && name == "$schema" {
			continue // for editors
		}
		_, known := l.findKey(path)
		if _, removed := findRemovedSetting(path); known || removed {
			yield(path, v, nil)
			continue
		}
		sub, isTable := v.(map[string]any)
		switch {
		case !l.isSection(path) && !hasRemovedBelow(path):
			yield(path, nil, l.unknownKeyError(path))
		case !isTable:
			yield(path, nil, fmt.Errorf("%s is a section, not a value", formatKeyPath(path)))
		default:
			l.walkSettings(sub, path, yield)
		}
	}
}

// loadEnviron applies the environment variables that name a key. Other programs use the prefix too, so
// a variable is refused only if it begins like one of ours or is almost spelled like one.
func (l *settingsLoader) loadEnviron(environ []string) error {
	var all []settingSourceValue
	var bad []error
	k := koanf.New(keyDelimiter)
	err := k.Load(env.Provider(keyDelimiter, env.Opt{
		Prefix: envPrefix, EnvironFunc: func() []string { return wellFormedVariables(environ) },
		TransformFunc: func(name, text string) (string, any) {
			if r, ok := findRemovedVariable(name); ok {
				l.warnRemoved("environment", r.underVariableName(name))
				return "", nil
			}
			switch path, err := l.pathOfVariable(name); {
			case err != nil:
				bad = append(bad, err)
			case path != nil:
				all = append(all, settingSourceValue{path: path, raw: text, text: true, origin: SettingOrigin{LayerEnv, name}})
			}
			return "", nil // koanf merges the values that apply passes to it
		},
	}), nil)
	slices.SortStableFunc(all, func(a, b settingSourceValue) int { return cmp.Compare(a.origin.Where, b.origin.Where) })
	slices.SortStableFunc(bad, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errors.Join(errors.Join(bad...), err, l.applyLayer(all))
}

// wellFormedVariables drops the variables that set nothing: an empty variable counts as unset.
func wellFormedVariables(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(e string) bool {
		name, value, ok := strings.Cut(e, "=")
		return !ok || name == "" || value == ""
	})
}

func (l *settingsLoader) loadFlags(flags, named map[string]string) error {
	var all []settingSourceValue
	var bad []error
	for name, text := range flags {
		path := strings.Split(name, ".")
		if _, ok := l.findKey(path); !ok {
			bad = append(bad, fmt.Errorf("flag: %w", l.unknownKeyError(path)))
			continue
		}
		all = append(all, settingSourceValue{path: path, raw: text, text: true, origin: SettingOrigin{LayerFlag, name}, named: named[name]})
	}
	slices.SortStableFunc(all, func(a, b settingSourceValue) int { return cmp.Compare(a.origin.Where, b.origin.Where) })
	slices.SortStableFunc(bad, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errors.Join(errors.Join(bad...), l.applyLayer(all))
}

// applyLayer checks the values of one layer and merges them over the earlier ones.
func (l *settingsLoader) applyLayer(all []settingSourceValue) error {
	var bad []error
	for _, v := range all {
		if err := l.applyValue(v); err != nil {
			if v.named != "" {
				err = errors.New(strings.Replace(err.Error(), formatKeyPath(v.path), v.named, 1))
			} else if v.origin.Where != formatKeyPath(v.path) { // else the error has the key already
				err = fmt.Errorf("%s: %w", v.origin.Where, err)
			}
			bad = append(bad, err)
		}
	}
	return errors.Join(bad...)
}

func (l *settingsLoader) applyValue(v settingSourceValue) error {
	k, _ := l.findKey(v.path)
	name := formatKeyPath(v.path)
	of, err := k.wildcardName(v.path)
	if err != nil {
		return err
	}
	var x any
	if v.text {
		text, _ := v.raw.(string)
		x, err = k.kind.Parse(text)
	} else {
		x, err = k.kind.Read(v.raw)
	}
	switch {
	case errors.Is(err, valuekind.ErrKind):
		return fmt.Errorf("%s wants a %s, not %s", name, k.Type, tomlTypeName(v))
	case err != nil:
		return fmt.Errorf("%s %w", name, err)
	}
	if v.origin.Layer == LayerProject {
		if err := l.checkProjectMaySet(k, name, x); err != nil {
			return err
		}
	}
	if k.adds {
		before, _ := l.merged.Get(strings.Join(v.path, keyDelimiter)).([]string)
		more, _ := x.([]string)
		x = slices.Concat(before, slices.DeleteFunc(more, func(s string) bool { return slices.Contains(before, s) }))
	}
	if err := l.merged.Load(settingLayerValues(nestValue(v.path, x)), nil); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	k.set(&l.config, of, l.merged.Get(strings.Join(v.path, keyDelimiter)))
	l.origins[name] = v.origin
	return nil
}

// agentOfModel returns the agent program that a model setting names, or "".
func (l *settingsLoader) agentOfModel(name string, x any) string {
	if !strings.HasPrefix(name, "models.") && !strings.HasSuffix(name, ".model") {
		return ""
	}
	for one := range strings.SplitSeq(fmt.Sprint(x), ",") {
		maker, _, _ := strings.Cut(strings.TrimSpace(one), "/")
		_, set := l.config.Agents[maker]
		_, provides := l.config.Providers[maker]
		if (set || agentcli.IsKnownProgram(maker) && maker != "gemini") && !provides { // gemini is a provider first
			return maker
		}
	}
	return ""
}

// checkProjectMaySet refuses settings that repository content must not make.
func (l *settingsLoader) checkProjectMaySet(k SettingKey, name string, x any) error {
	const elsewhere = "set it in your own config.toml, the environment or by a flag"
	if k.Trusted != "" {
		return fmt.Errorf("the project's file may not set %s: %s; %s", name, k.Trusted, elsewhere)
	}
	if agent := l.agentOfModel(name, x); agent != "" {
		return fmt.Errorf("the project's file may not name the agent %s: it would work with your login; %s", agent, elsewhere)
	}
	if name == "sandbox" && x == "landlock" {
		return fmt.Errorf("the project's file may not choose the weaker sandbox landlock; %s", elsewhere)
	}
	if name == "sandbox" && x == "off" {
		return fmt.Errorf("the project's file may not switch the sandbox off; %s", elsewhere)
	}
	if section, entry, ok := splitEntryKey(name); ok && l.hasNonProjectEntry(section, entry) {
		return fmt.Errorf("the project's file may not change %s%s, which is yours; %s", section, entry, elsewhere)
	}
	if name == "approval" {
		return refuseLessApproval(l.config.Limits.Approval, x)
	}
	if name == "review.people" {
		return refuseFewerReviews(l.config.Limits.Review.People, x)
	}
	if !k.least {
		return nil
	}
	was, is := k.get(l.config)[0].value, x
	before, _ := was.(nexus.Money)
	now, _ := is.(nexus.Money)
	open := func(m nexus.Money) bool { return m == 0 && name != "budget.run" } // no cap
	if !open(before) && (open(now) || now > before) {
		return fmt.Errorf("the project's file may not raise %s above %s; %s", name, before, elsewhere)
	}
	return nil
}
