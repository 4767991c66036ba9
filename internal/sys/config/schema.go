package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// SettingsSchema returns the JSON Schema of a settings file, for editors.
func SettingsSchema() json.RawMessage {
	root := newObjectSchema()
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "nexus.toml"
	schemaProperties(root)["$schema"] = map[string]any{"type": "string"}
	for _, k := range MemberKeys() {
		at := root
		path := strings.Split(k.Name, ".")
		for _, p := range path[:len(path)-1] {
			at = ensureSubschema(at, p)
		}
		leaf := maps.Clone(k.valueSchema())
		leaf["description"] = k.Doc
		if last := path[len(path)-1]; last == "*" {
			at["additionalProperties"] = leaf
		} else {
			schemaProperties(at)[last] = leaf
		}
	}
	data, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return json.RawMessage("{}") // a map of plain values always marshals
	}
	return data
}

func newObjectSchema() map[string]any {
	return map[string]any{"type": "object", "additionalProperties": false, "properties": map[string]any{}}
}

func schemaProperties(of map[string]any) map[string]any {
	p, _ := of["properties"].(map[string]any)
	return p
}

// ensureSubschema returns the schema of a section, and creates it if it is missing.
func ensureSubschema(at map[string]any, name string) map[string]any {
	if name == "*" {
		if sub, ok := at["additionalProperties"].(map[string]any); ok {
			return sub
		}
		sub := newObjectSchema()
		at["additionalProperties"] = sub
		return sub
	}
	if sub, ok := schemaProperties(at)[name].(map[string]any); ok {
		return sub
	}
	sub := newObjectSchema()
	schemaProperties(at)[name] = sub
	return sub
}

// ReferencePage returns the text of docs/config.md: every key with its type, default, variable and
// meaning, in groups. The fields of tables with a name of the user's own follow the settings of their group.
func ReferencePage() string {
	var b strings.Builder
	b.WriteString(`# Configuration

Settings come from five places, and later places override earlier ones: the defaults below, your own
` + "`~/.config/nexus/config.toml`, the project's `nexus.toml`, the environment, and flags." + `

The project's file is repository content. It may not set what would send money, keys or files
elsewhere or open the sandbox; such keys are marked *not in the project's file*.

A variable's name is the key in upper case after ` + "`NEXUS_`" + `, with underscores for dots and hyphens;
a ` + "`*`" + ` stands for a name of yours, which a variable gives in lower case. Lists are separated by
commas. An empty variable counts as unset. An unknown key is an error; a key of an earlier version that
nothing reads now is a warning, which names what applies instead.
`)
	keys := AllSettingKeys()
	for i := 0; i < len(keys); {
		n := i
		for n < len(keys) && keys[n].Group == keys[i].Group {
			n++
		}
		writeSettingGroup(&b, keys[i:n])
		i = n
	}
	return b.String()
}

// writeSettingGroup writes the settings of a group as a table, followed by the members of its families and
// the fields of its named tables as lists.
func writeSettingGroup(b *strings.Builder, keys []SettingKey) {
	fmt.Fprintf(b, "\n## %s\n", keys[0].Group)
	var tables []string
	var families []SettingKey
	fields := map[string][]SettingKey{}
	rows := 0
	for _, k := range keys {
		if table, _, ok := strings.Cut(k.Name, ".*."); ok && !k.hasKnownNames() {
			if fields[table] == nil {
				tables = append(tables, table)
			}
			fields[table] = append(fields[table], k)
			continue
		}
		if rows++; rows == 1 {
			b.WriteString("\n| key | value | default | variable | meaning |\n|---|---|---|---|---|\n")
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", k.Name, k.Type, codeSpan(k.Default), codeSpan(k.Env), k.describeKey())
		if k.hasDocumentedMembers() {
			families = append(families, k)
		}
	}
	for _, k := range families {
		fmt.Fprintf(b, "\nThe keys of `%s`:\n\n", k.Name)
		for _, m := range k.Members {
			writeMember(b, m)
		}
	}
	for _, table := range tables {
		fmt.Fprintf(b, "\n`[%s.NAME]` is a table with a name of yours:\n\n", table)
		for _, k := range fields[table] {
			writeTableField(b, k)
		}
	}
}

// writeTableField writes one line about a field of a named table, followed by its keys if it is a family.
func writeTableField(b *strings.Builder, k SettingKey) {
	variable := ""
	if k.Env != "" {
		variable = ", " + codeSpan(k.Env)
	}
	fmt.Fprintf(b, "- `%s` (%s%s): %s\n", k.Name, k.Type, variable, k.describeKey())
	if !k.hasDocumentedMembers() {
		return
	}
	for _, m := range k.Members {
		b.WriteString("  ")
		writeMember(b, m)
	}
}

// writeMember writes one line about a key of a family.
func writeMember(b *strings.Builder, k SettingKey) {
	fmt.Fprintf(b, "- `%s`", k.Name)
	if codeSpan(k.Default) != "" {
		fmt.Fprintf(b, ", default %s", codeSpan(k.Default))
	}
	if k.Doc != "" {
		b.WriteString(": " + k.Doc)
	}
	b.WriteString("\n")
}

// hasKnownNames reports whether the key is a family whose members have no name of the user's.
func (k SettingKey) hasKnownNames() bool {
	return len(k.Members) > 0 && !strings.Contains(k.Members[0].Name, "*")
}

// hasDocumentedMembers reports whether the members of a family need lines of their own.
func (k SettingKey) hasDocumentedMembers() bool {
	return slices.ContainsFunc(k.Members, func(m SettingKey) bool { return m.Doc != "" })
}

// describeKey returns the meaning of the key, with the reason why the project's file must not set it, and the
// members of its family that need no lines of their own.
func (k SettingKey) describeKey() string {
	doc := k.Doc
	if len(k.Members) > 0 && !k.hasDocumentedMembers() {
		var names []string
		for _, m := range k.Members {
			name := codeSpan(m.Name)
			if m.Default != "" {
				name += " (default " + codeSpan(m.Default) + ")"
			}
			names = append(names, name)
		}
		doc += ": " + strings.Join(names, ", ")
	}
	if k.Trusted == "" {
		return doc
	}
	return doc + " (*not in the project's file*: " + k.Trusted + ")"
}

func codeSpan(s string) string {
	if s == "" || s == `""` {
		return ""
	}
	return "`" + s + "`"
}
