/** Loads copies of lib/storage with small edits: other constants, or without a rule. */
import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { build } from 'esbuild'
import type { Subject } from './schedule.ts'

/** Replaces a text that occurs exactly once in a file of lib/storage. */
export interface Edit {
  file: string
  from: string
  to: string
}

/** Makes rare events frequent: settling, several log partitions, watches that are behind, full pages. */
export const hurried: readonly Edit[] = [
  { file: 'protocol/constants.ts', from: 'settleEvery = 16', to: 'settleEvery = 3' },
  { file: 'protocol/constants.ts', from: 'settleBehind = 64', to: 'settleBehind = 3' },
  { file: 'protocol/constants.ts', from: 'settleAhead = 100', to: 'settleAhead = 12' },
  { file: 'protocol/constants.ts', from: 'pollSlots = 512', to: 'pollSlots = 6' },
  { file: 'keys.ts', from: 'bucketSize = 64', to: 'bucketSize = 8' },
  { file: 'protocol/constants.ts', from: 'pageBytes = 8 * 1024 * 1024', to: 'pageBytes = 400' },
]

const storage = join(import.meta.dirname, '../../../../lib/storage')

/** Bundles an edited copy in memory and loads it. Throws unless every edit applies exactly once. */
export async function loadEdited(edits: readonly Edit[]): Promise<Subject> {
  const open = new Set(edits)
  const { outputFiles } = await build({
    stdin: {
      contents: "export { storageOver } from './protocol/storage.ts'\nexport { ItemsFault } from './items.ts'",
      resolveDir: storage,
    },
    bundle: true,
    // The name of the bundle in stack traces, which otherwise show the whole text.
    footer: { js: '//# sourceURL=storage.js' },
    format: 'esm',
    platform: 'node',
    write: false,
    plugins: [
      {
        name: 'edits',
        setup: ({ onLoad }) =>
          onLoad({ filter: /\/lib\/storage\/.*\.ts$/ }, async ({ path }) => {
            let contents = await readFile(path, 'utf8')
            for (const edit of edits) {
              if (edit.file !== relative(storage, path)) continue
              const parts = contents.split(edit.from)
              if (parts.length !== 2) throw new Error(`${edit.file} has ${parts.length - 1} times: ${edit.from}`)
              contents = parts.join(edit.to)
              open.delete(edit)
            }
            return { contents, loader: 'ts' }
          }),
      },
    ],
  })
  for (const { file } of open) throw new Error(`storageOver does not import ${file}`)
  const text = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64')
  return import(/* @vite-ignore */ `data:text/javascript;base64,${text}`)
}
