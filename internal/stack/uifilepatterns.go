package stack

// UIFilePatterns returns patterns of the files of a user interface: its views, its logic, and the
// files that name its libraries.
func UIFilePatterns() []string {
	return []string{
		"*.html", "*.htm", "*.css", "*.scss", "*.sass", "*.less", "*.jsx", "*.tsx", "*.vue", "*.svelte", "*.astro", "*.mdx",
		"*.ejs", "*.hbs", "*.pug", "*.erb", "*.haml", "*.twig", "*.jinja", "*.j2", "*.cshtml", "*.razor", "*.tmpl", "*.svg",
		"**/templates/**", "**/views/**", "**/components/**", "**/pages/**", "**/public/**", "**/static/**", "**/e2e/**",
		"playwright.config.*", "cypress.config.*", "package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock*",
	}
}
