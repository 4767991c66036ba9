package config

import "github.com/nexus-ai-builder/nexus/internal/sys/config/valuekind"

// LanguageServerSettings configures a language server: its command and its files.
type LanguageServerSettings struct {
	Command    []string
	Extensions []string
	Off        bool
}

func languageServerKeys() []SettingKey {
	all := func(c *Config) *map[string]LanguageServerSettings { return &c.Languages }
	return []SettingKey{
		newMapFieldKey("lsp.*.command", valuekind.TextListKind(), "program and arguments of this language server, which runs in the sandbox of an attempt and may not write to its tree; gopls, typescript, pyright, rust-analyzer, clangd and others are known without it", all,
			func(l *LanguageServerSettings) *[]string { return &l.Command }).withProjectDenied("it runs a program"),
		newMapFieldKey("lsp.*.extensions", valuekind.TextListKind(), "extensions of its files, such as .go", all, func(l *LanguageServerSettings) *[]string { return &l.Extensions }),
		newMapFieldKey("lsp.*.off", valuekind.BooleanKind(), "it is not used", all, func(l *LanguageServerSettings) *bool { return &l.Off }),
	}
}
