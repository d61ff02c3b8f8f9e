# shellcheck shell=bash
# Sourced, not run: creates a package from a part of this one.
#
# A build of all targets with a sanitizer takes long, mainly because of the server's dependencies. Such runs therefore
# build a separate package: the Package.swift of this repository plus code that removes the unnecessary targets, and
# links to all other files.

# make_subset FOLDER TARGET...: creates a package in FOLDER from these targets and their dependencies. Lines from
# standard input are added to the manifest, for targets that only this package has. Must be called in the root of the
# repository.
make_subset() {
  local folder=$1 entry
  shift
  mkdir -p "$folder"
  for entry in *; do
    [[ $entry == Package.* ]] || ln -sfn "$PWD/$entry" "$folder/$entry"
  done
  {
    cat Package.swift
    printf '\n// MARK: the targets of this subset\n\n'
    cat
    printf 'let roots = [%s]\n' "$(printf '"%s", ' "$@")"
    cat <<'SWIFT'

/// What a target needs directly: targets of this package, and products of others with the package they come from.
func needs(of target: Target) -> (targets: [String], packages: [String]) {
  var targets: [String] = []
  var packages: [String] = []
  for dependency in target.dependencies {
    switch dependency {
    case .targetItem(let name, _), .byNameItem(let name, _): targets.append(name)
    case .productItem(_, let package, _, _): packages.append(package ?? "")
    @unknown default: preconditionFailure("unknown kind of dependency in \(target.name)")
    }
  }
  return (targets, packages)
}

var wanted: Set<String> = []
var wantedPackages: Set<String> = []
var open = roots
while let name = open.popLast() {
  guard wanted.insert(name).inserted else { continue }
  guard let target = package.targets.first(where: { $0.name == name }) else {
    preconditionFailure("Package.swift has no target \(name)")
  }
  let needed = needs(of: target)
  open += needed.targets
  wantedPackages.formUnion(needed.packages)
}
package.products = []
package.targets = package.targets.filter { wanted.contains($0.name) }
package.dependencies = package.dependencies.filter { dependency in
  switch dependency.kind {
  case .sourceControl(let name, let location, _): wantedPackages.contains(name ?? String(location.split(separator: "/").last ?? ""))
  default: true
  }
}
SWIFT
  } >"$folder/Package.swift.new"
  # Replace it only if it differs, to avoid a new resolution of the dependencies.
  if cmp -s "$folder/Package.swift.new" "$folder/Package.swift"; then
    rm "$folder/Package.swift.new"
  else
    mv "$folder/Package.swift.new" "$folder/Package.swift"
  fi
}
