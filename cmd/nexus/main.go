// Command nexus takes a goal and brings back landed commits.
package main

func main() {}
