// Package page draws the screens of the web server.
package page

import "github.com/nexus-ai-builder/nexus/internal/face/web/access"

// Routes returns all screens, their parts and what they load.
func Routes(access.Site) []access.Route { return nil }
