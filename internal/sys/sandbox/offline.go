package sandbox

import (
	"regexp"
	"strings"
)

// offline returns variables that let clients of registries fail at once, and
// say why, in a box without a network. Without them many try again for a
// minute. What they fetched before, and a lock file names, they still install.
// The go command has its own in [toolEnv], for it may not even where there is a way
// out.
func offline() []string {
	return []string{
		"npm_config_offline=true", "npm_config_fetch_retries=0", "npm_config_update_notifier=false", // npm and npx too
		"pnpm_config_offline=true", "pnpm_config_fetch_retries=0",
		"YARN_ENABLE_NETWORK=false", "COREPACK_ENABLE_NETWORK=0",
		"PIP_RETRIES=0", "PIP_DISABLE_PIP_VERSION_CHECK=1",
		"UV_OFFLINE=1", "UV_PYTHON_DOWNLOADS=never", "POETRY_REQUESTS_MAX_RETRIES=0",
		"CARGO_NET_OFFLINE=true",
		"COMPOSER_DISABLE_NETWORK=1", "BUNDLE_RETRY=0",
		"MAVEN_ARGS=--offline",
		"NUGET_ENABLE_ENHANCED_HTTP_RETRY=true", "NUGET_ENHANCED_MAX_NETWORK_TRY_COUNT=1", "DOTNET_CLI_TELEMETRY_OPTOUT=1",
	}
}

// unreachedIn reports whether a text is what a client prints that found no
// network, in its own words or in those of its offline mode.
func unreachedIn(text string) bool {
	return strings.ContainsAny(text, " ") && unreached().MatchString(text)
}

func unreached() *regexp.Regexp {
	return regexp.MustCompile(strings.Join([]string{
		// Of name servers and the kernel.
		`Could not resolve host`, `[Tt]emporary failure in name resolution`, `EAI_AGAIN`, `getaddrinfo ENOTFOUND`, `Name or service not known`, `nodename nor servname`,
		`Network is unreachable`, `network is unreachable`, `UnknownHostException`, `unable to resolve host address`, `dial tcp: lookup \S+`,
		// Of package managers.
		`ENOTCACHED`, `ERR_PNPM_NO_OFFLINE_\w+`, `Network access (?:has been )?disabled by configuration`, `Network access disabled by the environment`,
		`\(from versions: none\)`, `[Nn]etwork was disabled`, `network connectivity is disabled`,
		`you're using offline mode`, "could not find `[^`]+` in registry `crates-io`", `module lookup disabled by GOPROXY=off`, `[Nn]etwork disabled`, `could not be found in registry index`, `has been blocked because of your configuration settings`,
		`in offline mode`, `No cached version .* available for offline mode`, `Could not find a suitable TLS CA certificate bundle`, `invalid path: /etc/ssl/certs`,
		`Unable to load the service index for source`, `Could not transfer artifact`, `Couldn't find any versions for .* that matches .* offline`,
	}, "|"))
}
