package lint

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Translated compilers print messages in the user's language. Nexus sets the language to
// English; recorded output may be in any language.

// errorWords returns the words of gcc and javac for an error; a fatal error contains the same
// word.
func errorWords() []string {
	return []string{
		"error", "erreur", "fehler", "errore", "erro", "\u30a8\u30e9\u30fc", "\u9519\u8bef", "\u932f\u8aa4", "\uc624\ub958", "\u043e\u0448\u0438\u0431\u043a\u0430",
		"\u043f\u043e\u043c\u0438\u043b\u043a\u0430", "b\u0142\u0105d", "fout", "fel", "fejl", "virhe", "chyba", "hata", "eroare", "l\u1ed7i",
	}
}

// warningWords returns the words for a warning.
func warningWords() []string {
	return []string{
		"warning", "attention", "avertissement", "warnung", "aviso", "attenzione", "avviso", "\u8b66\u544a", "\uacbd\uace0",
		"\u043f\u0440\u0435\u0434\u0443\u043f\u0440\u0435\u0436\u0434\u0435\u043d\u0438\u0435", "\u043f\u043e\u043f\u0435\u0440\u0435\u0434\u0436\u0435\u043d\u043d\u044f", "ostrze\u017cenie",
		"waarschuwing", "varning", "advarsel", "varoitus", "varov\u00e1n\u00ed", "uyar\u0131", "avertisment", "c\u1ea3nh b\u00e1o",
	}
}

// wordSeverity returns the severity of a word in any of these languages, "" if it means none.
func wordSeverity(word string) nexus.Severity {
	word = strings.ToLower(strings.TrimSpace(word))
	has := func(all []string) bool {
		return slices.ContainsFunc(all, func(w string) bool {
			return word == w || strings.HasPrefix(word, w+" ") || strings.HasSuffix(word, " "+w) || strings.HasPrefix(word, "\u81f4\u547d") && strings.HasSuffix(word, w)
		})
	}
	switch {
	case has(errorWords()):
		return nexus.Major
	case has(warningWords()):
		return nexus.Minor
	default:
		return ""
	}
}

// BuildSucceededTexts returns MSBuild's words for a successful build.
func BuildSucceededTexts() []string {
	return []string{
		"Build succeeded", "Der Buildvorgang wurde erfolgreich ausgef\u00fchrt", "La g\u00e9n\u00e9ration a r\u00e9ussi", "Compilaci\u00f3n correcta",
		"Compilazione completata", "\u30d3\u30eb\u30c9\u306b\u6210\u529f\u3057\u307e\u3057\u305f", "\ube4c\ub4dc\ud588\uc2b5\ub2c8\ub2e4",
		"Kompilacja powiod\u0142a si\u0119", "Compila\u00e7\u00e3o com \u00eaxito",
		"\u0421\u0431\u043e\u0440\u043a\u0430 \u0443\u0441\u043f\u0435\u0448\u043d\u043e \u0437\u0430\u0432\u0435\u0440\u0448\u0435\u043d\u0430",
		"Olu\u015fturma ba\u015far\u0131l\u0131 oldu", "Vytv\u00e1\u0159en\u00ed sestaven\u00ed bylo \u00fasp\u011b\u0161n\u011b dokon\u010deno",
		"\u5df2\u6210\u529f\u751f\u6210", "\u5efa\u7f6e\u6210\u529f",
	}
}

// DotNetFailureWords returns the words that dotnet test prints before a failed test.
func DotNetFailureWords() []string {
	return []string{
		"Failed", "Fehler", "\u00c9chou\u00e9", "Con error", "Non superato", "\u5931\u6557", "\uc2e4\ud328", "Niepowodzenie", "Com falha",
		"\u041d\u0435 \u043f\u0440\u043e\u0439\u0434\u0435\u043d", "Ba\u015far\u0131s\u0131z", "Ne\u00fasp\u011b\u0161n\u00e9", "\u5931\u8d25",
	}
}
