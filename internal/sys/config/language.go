package config

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/config/kind"
)

// Language configures a language server: its command and its files.
type Language struct {
	Command    []string
	Extensions []string
	Timeout    time.Duration // of one response; 0: two minutes
	Off        bool
}

func languageKeys() []Key {
	all := func(c *Config) *map[string]Language { return &c.Languages }
	return []Key{
		mapFieldKey("lsp.*.command", kind.Texts(), "program and arguments of this language server, which runs in the sandbox of an attempt and may not write to its tree; gopls, typescript, pyright, rust-analyzer, clangd and others are known without it", all,
			func(l *Language) *[]string { return &l.Command }).trusted("it runs a program"),
		mapFieldKey("lsp.*.extensions", kind.Texts(), "extensions of its files, such as .go", all, func(l *Language) *[]string { return &l.Extensions }),
		mapFieldKey("lsp.*.timeout", kind.Span(), "maximum time for an answer; 0s: two minutes", all, func(l *Language) *time.Duration { return &l.Timeout }),
		mapFieldKey("lsp.*.off", kind.Boolean(), "it is not used", all, func(l *Language) *bool { return &l.Off }),
	}
}
