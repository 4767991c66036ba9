package graph

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Mermaid draws the graph in the language of Mermaid.
func (g *Graph) Mermaid() string {
	var b strings.Builder
	b.WriteString("graph TD\n")
	for i, t := range g.tasks {
		fmt.Fprintf(&b, "  t%d[\"%s\"]\n", i, strings.NewReplacer(
			"#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "`", "#96;",
		).Replace(label(t)))
	}
	for i := range g.tasks {
		for _, n := range g.needs[i] {
			fmt.Fprintf(&b, "  t%d --> t%d\n", n, i)
		}
	}
	return b.String()
}

// Dot draws the graph in the language of Graphviz.
func (g *Graph) Dot() string {
	var b strings.Builder
	b.WriteString("digraph plan {\n  node [shape=box];\n")
	for i, t := range g.tasks {
		fmt.Fprintf(&b, "  t%d [label=\"%s\"];\n", i, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(label(t)))
	}
	for i := range g.tasks {
		for _, n := range g.needs[i] {
			fmt.Fprintf(&b, "  t%d -> t%d;\n", n, i)
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// label is a task's name and title on one line.
func label(t nexus.Task) string {
	title := strings.Join(strings.FieldsFunc(t.Title, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if r := []rune(title); len(r) > 60 {
		title = string(r[:60]) + "..."
	}
	id := strings.Join(strings.FieldsFunc(string(t.ID), unicode.IsControl), " ")
	if title == "" {
		return id
	}
	return id + ": " + title
}
