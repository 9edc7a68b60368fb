/** Loads copies of modules of lib/ with small edits, for tests that must fail without a rule. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'

/** Replaces a text that occurs exactly once in a file. */
export interface Edit {
  file: string
  from: string
  to: string
}

/**
 * Bundles the modules that `contents` exports in memory and loads them. `root` is the folder that relative imports and the
 * files of the edits are relative to. Throws unless every edit applies exactly once.
 */
export async function loadEdited<Exports>(root: string, contents: string, edits: readonly Edit[]): Promise<Exports> {
  const open = new Set(edits)
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root },
    bundle: true,
    // The name of the bundle in stack traces, which otherwise show the whole text.
    footer: { js: '//# sourceURL=edited.js' },
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire('file:///')" },
    format: 'esm',
    platform: 'node',
    write: false,
    plugins: [
      {
        name: 'edits',
        setup: ({ onLoad }) =>
          onLoad({ filter: /\.ts$/ }, async ({ path }) => {
            let text = await readFile(path, 'utf8')
            for (const edit of edits) {
              if (join(root, edit.file) !== path) continue
              const parts = text.split(edit.from)
              if (parts.length !== 2) throw new Error(`${edit.file} has ${parts.length - 1} times: ${edit.from}`)
              text = parts.join(edit.to)
              open.delete(edit)
            }
            return { contents: text, loader: 'ts' }
          }),
      },
    ],
  })
  for (const { file } of open) throw new Error(`the modules do not import ${file}`)
  const text = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64')
  return import(/* @vite-ignore */ `data:text/javascript;base64,${text}`)
}
