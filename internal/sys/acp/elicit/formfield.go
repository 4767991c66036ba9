package elicit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// formField is a field that a person fills in.
type formField struct {
	name     string
	kind     string // string, number, integer, boolean or array
	required bool
	title    string
	says     string
	format   string
	pattern  *regexp.Regexp // nil: any
	least    *float64       // bound of a number or a length; nil: none
	most     *float64
	values   []allowedFieldValue // the allowed values; nil: any
	fallback any                 // default; nil: none
}

// allowedFieldValue is an allowed value of a field.
type allowedFieldValue struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// formFieldSchema is a field in the form of the protocol.
type formFieldSchema struct {
	Type      string              `json:"type"`
	Title     string              `json:"title"`
	Says      string              `json:"description"`
	Format    string              `json:"format"`
	Pattern   string              `json:"pattern"`
	Hidden    bool                `json:"writeOnly"`
	MinLength *float64            `json:"minLength"`
	MaxLength *float64            `json:"maxLength"`
	Minimum   *float64            `json:"minimum"`
	Maximum   *float64            `json:"maximum"`
	MinItems  *float64            `json:"minItems"`
	MaxItems  *float64            `json:"maxItems"`
	Enum      []string            `json:"enum"`
	OneOf     []allowedFieldValue `json:"oneOf"`
	Default   json.RawMessage     `json:"default"`
	Items     struct {
		Enum  []string            `json:"enum"`
		AnyOf []allowedFieldValue `json:"anyOf"`
		OneOf []allowedFieldValue `json:"oneOf"`
	} `json:"items"`
}

// readFields reads the fields of a schema: first the required ones in the order of the schema, then the
// others by name.
func readFields(schema json.RawMessage) ([]formField, error) {
	var in struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if len(schema) > 0 && json.Unmarshal(schema, &in) != nil {
		return nil, errors.New("the fields of the question cannot be read")
	}
	if len(in.Properties) > maxFields {
		return nil, fmt.Errorf("the question has more than %d fields", maxFields)
	}
	var names []string
	for _, name := range append(in.Required, slices.Sorted(maps.Keys(in.Properties))...) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var all []formField
	for _, name := range names {
		f, err := parseField(name, in.Properties[name])
		f.required = slices.Contains(in.Required, name)
		switch {
		case err == nil:
			all = append(all, f)
		case f.required || errors.Is(err, errSecret):
			return nil, err
		}
	}
	return all, nil
}

// errSecret is returned if a question asks for a secret.
var errSecret = errors.New("people are not asked for secrets, since their answers are recorded; " +
	"the user can give them with agents.NAME.env")

var fieldName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,60}$`)

// parseField reads a field. Its error is the reason why the field cannot be asked for.
func parseField(name string, raw json.RawMessage) (formField, error) {
	var p formFieldSchema
	if !fieldName.MatchString(name) {
		return formField{}, errors.New("a field has a name that cannot be typed")
	}
	if len(raw) == 0 || json.Unmarshal(raw, &p) != nil {
		return formField{}, fmt.Errorf("the field %s cannot be read", name)
	}
	f := formField{name: name, kind: p.Type, title: shortLabel(p.Title), says: shortLabel(p.Says), format: p.Format}
	switch p.Type {
	case "string":
		f.least, f.most, f.values = p.MinLength, p.MaxLength, p.OneOf
		for _, v := range p.Enum {
			f.values = append(f.values, allowedFieldValue{Const: v})
		}
		if p.Pattern != "" {
			f.pattern, _ = regexp.Compile(p.Pattern) // a pattern that Go cannot compile is left to the agent
		}
		if len(f.values) == 0 && (p.Hidden || p.Format == "password" || isSecretName(name) || isSecretName(p.Title)) {
			return f, errSecret
		}
	case "number", "integer":
		f.least, f.most = p.Minimum, p.Maximum
	case "boolean":
	case "array":
		f.least, f.most, f.values = p.MinItems, p.MaxItems, slices.Concat(p.Items.AnyOf, p.Items.OneOf)
		for _, v := range p.Items.Enum {
			f.values = append(f.values, allowedFieldValue{Const: v})
		}
		if len(f.values) == 0 {
			return f, fmt.Errorf("the field %s has no values to choose from", name)
		}
	default:
		return f, fmt.Errorf("the field %s is of an unknown kind", name)
	}
	if len(f.values) > maxValues {
		return f, fmt.Errorf("the field %s has more than %d values", name, maxValues)
	}
	f.fallback = f.defaultValue(p.Default)
	return f, nil
}

// defaultValue returns the default of a field; nil if there is none that fits.
func (f formField) defaultValue(raw json.RawMessage) any {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var v any
	if len(raw) == 0 || d.Decode(&v) != nil || v == nil {
		return nil
	}
	v, err := f.parseValue(v)
	if err != nil {
		return nil
	}
	return v
}

func shortLabel(s string) string {
	return sanitize.TruncateText(strings.Join(strings.Fields(s), " "), maxLabel)
}

// isSecretName reports whether a field's name suggests a secret.
func isSecretName(name string) bool {
	var words []string
	var last rune
	word := ""
	end := func() {
		if word != "" {
			words = append(words, strings.ToLower(word))
		}
		word = ""
	}
	for _, c := range name {
		switch {
		case !unicode.IsLetter(c):
			end()
		case unicode.IsUpper(c) && unicode.IsLower(last):
			end()
			word += string(c)
		default:
			word += string(c)
		}
		last = c
	}
	end()
	for i, w := range words {
		switch w {
		case "password", "passwd", "passphrase", "pwd", "secret", "token", "credential", "credentials", "apikey", "otp", "pin":
			return true
		case "key":
			if i > 0 && slices.Contains([]string{"api", "private", "access", "secret", "ssh"}, words[i-1]) {
				return true
			}
		}
	}
	return false
}

// fieldDescription returns the agent's description of a field.
func (f formField) fieldDescription() string {
	if f.says == "" || f.title == "" || f.title == f.says {
		return cmp.Or(f.says, f.title)
	}
	return f.title + ": " + f.says
}

// describeAllowed describes the valid values of a field.
func (f formField) describeAllowed() string {
	var b strings.Builder
	bounds := func(unit string) {
		switch {
		case f.least != nil && f.most != nil:
			fmt.Fprintf(&b, " from %s to %s%s", formatNumber(*f.least), formatNumber(*f.most), unit)
		case f.least != nil:
			fmt.Fprintf(&b, " of at least %s%s", formatNumber(*f.least), unit)
		case f.most != nil:
			fmt.Fprintf(&b, " of at most %s%s", formatNumber(*f.most), unit)
		}
	}
	switch {
	case f.kind == "array":
		b.WriteString("one or more of these, with commas: " + f.listValues())
		if f.least != nil || f.most != nil {
			b.WriteString(" (a list")
			bounds(" values")
			b.WriteString(")")
		}
	case len(f.values) > 0:
		b.WriteString("one of: " + f.listValues())
	case f.kind == "string":
		b.WriteString("a text")
		switch f.format {
		case "email":
			b.WriteString(" that is an email address")
		case "uri":
			b.WriteString(" that is an address such as https://example.com")
		case "date":
			b.WriteString(" that is a date such as 2026-01-31")
		case "date-time":
			b.WriteString(" that is a time such as 2026-01-31T09:30:00Z")
		}
		bounds(" characters")
		if f.pattern != nil {
			fmt.Fprintf(&b, " that matches %s", shortLabel(f.pattern.String()))
		}
	case f.kind == "boolean":
		b.WriteString("yes or no")
	case f.kind == "integer":
		b.WriteString("a whole number")
		bounds("")
	default:
		b.WriteString("a number")
		bounds("")
	}
	switch {
	case f.fallback != nil:
		fmt.Fprintf(&b, " (default %s)", shortLabel(formatValue(f.fallback)))
	case !f.required:
		b.WriteString(" (may be left out)")
	}
	return b.String()
}

// listValues lists the allowed values of a field.
func (f formField) listValues() string {
	var all []string
	for _, v := range f.values[:min(len(f.values), maxShown)] {
		name := v.Const
		if v.Title != "" && v.Title != v.Const {
			name += " (" + v.Title + ")"
		}
		all = append(all, shortLabel(name))
	}
	if more := len(f.values) - maxShown; more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, ", ")
}

// formatValue returns a value as a person types it.
func formatValue(v any) string {
	switch v := v.(type) {
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case []string:
		return strings.Join(v, ", ")
	case float64:
		return formatNumber(v)
	default:
		return fmt.Sprint(v)
	}
}

func formatNumber(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// parseValue checks a value for a field, in words or as JSON, and returns it with the field's type.
func (f formField) parseValue(given any) (any, error) {
	text, inWords := given.(typedValueText)
	wrong := fmt.Errorf("is not %s", f.describeAllowed())
	switch f.kind {
	case "boolean":
		if b, ok := given.(bool); ok {
			return b, nil
		}
		switch strings.ToLower(string(text)) {
		case "yes", "true", "y":
			return true, nil
		case "no", "false", "n":
			return false, nil
		}
		return nil, wrong
	case "number", "integer":
		n, ok := given.(json.Number)
		if !ok && !inWords {
			return nil, wrong
		}
		return f.parseNumber(cmp.Or(string(n), string(text)), wrong)
	case "array":
		return f.parseList(given, wrong)
	}
	s, ok := given.(string)
	if !ok && !inWords {
		return nil, wrong
	}
	return f.checkText(cmp.Or(s, string(text)), wrong)
}

func (f formField) parseNumber(text string, wrong error) (any, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) || f.least != nil && n < *f.least || f.most != nil && n > *f.most {
		return nil, wrong
	}
	if f.kind == "number" {
		return n, nil
	}
	whole, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		if n != math.Trunc(n) || math.Abs(n) > 1<<53 {
			return nil, wrong
		}
		whole = int64(n)
	}
	return whole, nil
}

func (f formField) parseList(given any, wrong error) (any, error) {
	var all []string
	switch v := given.(type) {
	case typedValueText:
		for one := range strings.SplitSeq(string(v), ",") {
			all = append(all, strings.TrimSpace(one))
		}
	case []any:
		for _, one := range v {
			s, ok := one.(string)
			if !ok {
				return nil, wrong
			}
			all = append(all, s)
		}
	default:
		return nil, wrong
	}
	chosen := []string{}
	for _, one := range all {
		v, ok := f.findValue(one)
		if !ok {
			return nil, wrong
		}
		if !slices.Contains(chosen, v) {
			chosen = append(chosen, v)
		}
	}
	if n := float64(len(chosen)); f.least != nil && n < *f.least || f.most != nil && n > *f.most {
		return nil, wrong
	}
	return chosen, nil
}

// findValue finds an allowed value by itself, or by its title.
func (f formField) findValue(text string) (string, bool) {
	for _, v := range f.values {
		if v.Const == text {
			return v.Const, true
		}
	}
	for _, v := range f.values {
		if strings.EqualFold(v.Const, text) || v.Title != "" && strings.EqualFold(v.Title, text) {
			return v.Const, true
		}
	}
	return "", false
}

func (f formField) checkText(s string, wrong error) (any, error) {
	if len(f.values) > 0 {
		v, ok := f.findValue(s)
		if !ok {
			return nil, wrong
		}
		return v, nil
	}
	n := float64(utf8.RuneCountInString(s))
	if f.least != nil && n < *f.least || f.most != nil && n > *f.most || f.pattern != nil && !f.pattern.MatchString(s) {
		return nil, wrong
	}
	var err error
	switch f.format {
	case "email":
		_, err = mail.ParseAddress(s)
	case "uri":
		if u, failed := url.Parse(s); failed != nil || u.Scheme == "" {
			return nil, wrong
		}
	case "date":
		_, err = time.Parse(time.DateOnly, s)
	case "date-time":
		_, err = time.Parse(time.RFC3339, s)
	}
	if err != nil {
		return nil, wrong
	}
	return s, nil
}
