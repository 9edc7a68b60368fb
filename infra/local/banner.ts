/** Formats the text that the local server prints when it is ready: what there is, and what to try first. It fits a small terminal. */
import { isAbsolute, relative } from 'node:path'
import { type Shell, shellWords } from '../../clients/core/src/shellwords.ts'
import { DEMO } from './virtualcluster/demo.ts'

export interface BannerFacts {
  /** URL with the base path. */
  url: string
  /** URL of the console. */
  console: string
  /** Absolute paths. */
  files: { ca: string; accessKey: string }
  /** Sentence about the data after the server stops. */
  keeps: string
  /** The shell that the commands are for. */
  shell: Shell
  /** The folder in which the user runs npm, and the commands. */
  folder: string
}

/** Returns the text, which starts and ends with a newline. Its commands can be pasted: they are not indented. */
export function banner({ url, console, files, keeps, shell, folder }: BannerFacts): string {
  const [ca, accessKey] = [shortPath(folder, files.ca), shortPath(folder, files.accessKey)]
  const keyplane = (...words: string[]) => shellWords(['npx', 'keyplane', ...words], shell)
  const create = `keys create --user ${DEMO.owner} --project ${DEMO.project} --ttl 1d --key-file ci.key`
  return `
keyplane serves ${url}
${keeps}

The console is at ${console}
Sign in with the key in ${accessKey}. The browser does not know the
certificate: continue anyway, or let it trust ${ca}.

In another terminal, log in and create a key for a job. docs/tour.md goes on.
${keyplane('login', url, '--ca', ca, '--key-file', accessKey)}
${keyplane(...create.split(' '))}

Press Ctrl-C to stop. "npm start -- --examples" prints more commands.
`
}

/** Returns the path from the folder if it is below it. */
function shortPath(folder: string, path: string): string {
  const short = relative(folder, path)
  return short.startsWith('..') || isAbsolute(short) ? path : short
}
