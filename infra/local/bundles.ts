/**
 * Bundles the functions for the local server, with the options of the release. Functions that contain what is made from the sources,
 * such as the console, wait for their first request, because making it takes longer than bundling all others.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { build, formatMessages, type Metafile, stop } from 'esbuild'
import { bundling, functionNames } from '../build.ts'
import type { Say } from '../package.ts'
import { StartupError } from './host/startuperror.ts'

export interface Bundles {
  /** The handler `functions/X.handler` is the file `functions/X.mjs` in this folder. */
  folder: string
  /** Resolves when the bundles that need nothing made are complete. Rejects with a StartupError that names file and line. */
  ready: Promise<void>
  /** Resolves when the bundle of a module, such as `functions/console`, is complete. */
  complete(module: string): Promise<void>
  /** Ends what is still being bundled. */
  close(): Promise<void>
}

export interface BundlesOptions {
  folder: string
  /** Select modules by `imports` of package.json. */
  conditions: readonly string[]
  /** Called with the sentence when a bundle cannot be made at a first request, whose client does not see it. */
  say: Say
  root?: string
}

/** Bundles follow one another: the end of each stops the process of esbuild, of over 100 MB, which all share. */
let queue: Promise<unknown> = Promise.resolve()

/** Starts to bundle. Replaces the folder. */
export function startBundles({
  folder,
  conditions,
  say,
  root = join(import.meta.dirname, '..', '..'),
}: BundlesOptions): Bundles {
  const waiting = new Map<string, Promise<void> | undefined>()

  function bundle(names: readonly string[], isMade: boolean): Promise<Metafile> {
    const options = bundling(root, names, folder, conditions)
    const plugins = options.plugins.filter(({ name }) => isMade || name !== 'made-modules')
    const turn = queue.then(async () => {
      try {
        const result = await build({ ...options, plugins, external: ['keyplane:*'], write: true })
        const [doubt] = await formatMessages(result.warnings, { kind: 'warning' })
        if (doubt !== undefined) throw new Error(doubt)
        return result.metafile
      } catch (error) {
        throw new StartupError(`The functions cannot be bundled: ${(error as Error).message.trimEnd()}`, error)
      } finally {
        await stop()
      }
    })
    queue = turn.catch(() => {})
    return turn
  }

  const make = async (module: string) => {
    try {
      await bundle([module.slice('functions/'.length)], true)
    } catch (error) {
      say((error as Error).message)
      throw error
    }
  }

  const first = async () => {
    await rm(folder, { recursive: true, force: true })
    const metafile = await bundle(await functionNames(root), false)
    for (const name of needingMade(metafile)) waiting.set(name, undefined)
  }
  const ready = first()
  ready.catch(() => {})

  return {
    folder,
    ready,
    async complete(module) {
      await ready
      if (!waiting.has(module)) return
      const completing = waiting.get(module) ?? make(module)
      waiting.set(module, completing)
      await completing
    },
    close: stop,
  }
}

/** Returns the modules of the functions that import something made, themselves or through other bundles. */
function needingMade({ outputs }: Metafile): string[] {
  const imports = Object.entries(outputs).flatMap(([from, output]) =>
    output.imports.map(({ path }) => ({ from, path })),
  )
  const importers = Map.groupBy(imports, ({ path }) => path)
  const needing = new Set(imports.filter(({ path }) => path.startsWith('keyplane:')).map(({ from }) => from))
  // What is added while the loop runs is visited too.
  for (const path of needing) for (const { from } of importers.get(path) ?? []) needing.add(from)
  return [...needing].flatMap((path) => outputs[path]?.entryPoint?.match(/^(functions\/.*)\.ts$/)?.[1] ?? [])
}
