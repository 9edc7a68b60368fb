/**
 * Leaves the tests little of the environment in which they are started, so that no variable of a shell decides about them: of AWS,
 * kubectl, npm, Git, proxies, Node.js or keyplane. Configurations of vitest call it: workers and programs inherit the rest.
 */

const kept = [
  // Where programs, their libraries and folders are, with the managers of versions that put programs on PATH.
  'PATH HOME USER LOGNAME SHELL TMPDIR TEMP TMP LD_LIBRARY_PATH NIX_\\w+ (ASDF|MISE|NVM|PYENV|VOLTA)_\\w+',
  'SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT USERPROFILE HOMEDRIVE HOMEPATH USERNAME (LOCAL)?APPDATA PROGRAM\\w+',
  // How this machine writes times and texts.
  'TZ LANG LC_\\w+ TERM',
  // What vitest reads itself.
  'CI GITHUB_ACTIONS VITEST\\w* NODE_V8_COVERAGE',
  // What the suites read.
  'SEED SOAK TENTHS NODE_COMPILE_CACHE KUBEBUILDER_ASSETS BUSYBOX AWS_ENDPOINT_URL_DYNAMODB',
]
const pattern = new RegExp(`^(${kept.join(' ').replaceAll(' ', '|')})$`, 'i')

/** Reports whether the tests keep a variable of the shell. */
export const isKept = (name: string): boolean => pattern.test(name)

/** Removes all other variables from the environment of this process. */
export function restrictEnvironment(): void {
  for (const name of Object.keys(process.env)) if (!isKept(name)) delete process.env[name]
  // Below another shell, bash reads no ~/.bashrc. It would if its input is a socket, as Node.js makes it.
  process.env.SHLVL = '2'
}
