/** The parts of .ci/run. Where cores are scarce, they start in this order. */
import { accessSync, constants } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import type { Part } from './part.ts'

/** What differs between machines. */
export interface Machine {
  env: NodeJS.ProcessEnv
  isRoot: boolean
  /** The clone in which the parts run. */
  clone: string
  /** A copy of the clone, for the suite that packages with other settings. */
  copy: string
  /** A copy for a user without rights. The folder around it has the user's home and temporary files. */
  usersCopy: string
  /** Where the commit of .ci/base is built. */
  base: string
  /** Keeps what suites download and install, by version, for later runs. */
  cache: string
}

/** The user without rights, and its group. */
const NOBODY = '65534'

/** Copies the clone, with all that is installed and packaged. The packages are links to those of the clone, and what suites install is in the cache. */
const COPY = `
  # An environment is of one version of Python.
  python=$1/environments/$(python3 --version | tr ' ' - || true)/python
  cdk=$1/environments/cdk
  shift
  mkdir -p "$0/.local" "$python" "$cdk"
  ln -s "$python" "$cdk" "$0/.local"
  for copy; do
    git clone --quiet --no-hardlinks "$0" "$copy"
    cp -al node_modules "$copy"
    cp -a .build .serverless "$copy"
    cp -a clients/cli/dist "$copy/clients/cli"
    mkdir -p "$copy/.local"
    ln -s "$python" "$copy/.local"
  done
  rm -rf "$copy"/node_modules/.{cache,compile-cache,vite,vite-temp}
  around=$(dirname "$copy")
  mkdir "$around/home" "$around/tmp"
  if [ "$(id -u)" = 0 ]; then
    chmod 711 "$(dirname "$around")"
    find "$around" -path '*/node_modules/*' -prune -o -exec chown -h ${NOBODY}:${NOBODY} {} +
  fi`

const PROGRAMS = 'programs in Go'

/** Fills the cache of the compiler for the programs that test:cluster builds. The first time, it takes a minute. */
const BUILD_PROGRAMS = `
  mkdir "$1"
  for module in test/clients/*/go.mod; do
    (cd "$(dirname "$module")" && go build -o "$1/" .)
  done`

const INSTALL = 'DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends'

/** Measures the CPU of requests beside that of the commit that .ci/base names. */
const BESIDE_BASE = `
  git worktree add --quiet --detach "$0" "$(cat .ci/base)"
  ln -s "$PWD/node_modules" "$0"
  (cd "$0" && "$1" infra/build.ts) > "$0.log"
  npm run --silent bench -- handlers --base "$0/.build"`

export function partsOn({ env, isRoot, clone, copy, usersCopy, base, cache }: Machine): Part[] {
  const has = (...names: string[]) => names.some((name) => isCommand(name, env.PATH ?? ''))
  const hasBrowser = has('chromium', 'chromium-browser', 'google-chrome')
  // Debian has a Chromium without windows, which computes less.
  const browser = `$(apt-cache show chromium-headless-shell > /dev/null 2>&1 && echo chromium-headless-shell || echo ${hasBrowser ? '' : 'chromium'})`
  const isMissing = !env.CHROMIUM && !has('chromium-headless-shell')
  // With a font for the eyes of people who look at failures.
  const missing = [...(isMissing ? [browser, 'fonts-inter'] : []), ...['zsh', 'fish'].filter((shell) => !has(shell))]
  const isInstalled = missing.length > 0 && isRoot && has('apt-get')
  const build = env.ENVTEST_BUILD
  const bash = (script: string, ...args: string[]) => ['bash', '-euo', 'pipefail', '-c', script, ...args]
  const npm = (script: string): Part => ({ name: `npm run ${script}`, command: ['npm', 'run', '--silent', script] })
  /** Parts that compute all the time give way to those that wait for clocks, browsers and other programs. */
  const yielding = (part: Part): Part => ({ ...part, niceness: 5 })
  const forRaces = (part: Part): Part => ({ ...part, isForRaces: true })
  /** `npm test` plays the first tenth of the random runs, with the first ten seeds. These are two others. */
  const inPart = (part: Part): Part => ({ ...part, command: ['env', 'TENTHS=2', 'SEED=11', ...part.command] })
  /** All suites start when the copies are there, so that none of those that need no copy passes a longer one. */
  const suite = (script: string, ...after: string[]): Part => ({
    name: `npm run ${script}`,
    command: ['npm', 'run', '--silent', script, '--'],
    isSuite: true,
    after: ['copy', ...after],
  })
  /** Runs a suite as a user who has no rights and a new home, and lets nobody else read what it writes. */
  const asUser = ({ command, ...part }: Part): Part => {
    const home = join(dirname(usersCopy), 'home')
    const temporary = join(dirname(usersCopy), 'tmp')
    const user = isRoot ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : []
    const words = [...user, 'env', `HOME=${home}`, `TMPDIR=${temporary}`, ...command]
    return { ...part, directory: usersCopy, reports: home, command: bash('umask 077; exec "$@"', 'bash', ...words) }
  }
  const hasGo = has('go')
  const cluster = suite('test:cluster', 'kube-apiserver', ...(hasGo ? [PROGRAMS] : []))
  // A second call of the script only prints the folder.
  const withAssets = build && [...bash('KUBEBUILDER_ASSETS=$("$0") "$@"', build), ...cluster.command]
  return [
    // The compiler of Go would take both cores for minutes from suites that wait for answers. A suite waits for it, so it gives way to
    // no more than those that compute.
    ...(build ? [yielding({ name: 'kube-apiserver', command: [build] })] : []),
    ...(hasGo
      ? [
          yielding({
            name: PROGRAMS,
            command: bash(BUILD_PROGRAMS, clone, `${base}-programs`),
            after: build ? ['kube-apiserver'] : [],
          }),
        ]
      : []),
    ...(isInstalled
      ? [{ name: 'apt-get', command: bash(`apt-get update -qq && ${INSTALL} ${missing.join(' ')}`) }]
      : []),
    npm('package'),
    {
      name: 'copy',
      command: bash(COPY, clone, cache, copy, usersCopy),
      after: ['npm run package'],
    },
    // The longest first, so that no long one runs alone at the end.
    { ...suite('test:deploy'), directory: copy },
    yielding(asUser({ ...suite('test', 'apt-get'), name: 'npm test' })),
    suite('test:browser', 'apt-get'),
    ...(withAssets || env.KUBEBUILDER_ASSETS ? [{ ...cluster, ...(withAssets && { command: withAssets }) }] : []),
    yielding(forRaces(inPart(suite('test:soak')))),
    yielding(forRaces(suite('test:dynamodb'))),
    yielding(suite('test:template')),
    suite('test:rollouts'),
    suite('test:release'),
    suite('test:docs', 'apt-get'),
    yielding(npm('typecheck')),
    yielding(npm('lint')),
    suite('test:nodes'),
    yielding({ name: 'npm run bench', command: bash(BESIDE_BASE, base, process.execPath), after: ['copy'] }),
  ]
}

function isCommand(name: string, path: string): boolean {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
