/** Writes zip archives that share files. Their bytes depend on the files only. */
import { crc32 } from 'node:zlib'
import { deflateSync, Zip, type ZipInputFile } from 'fflate'

const attributes = {
  /** Deflated, on Unix with mode 0644. */
  compression: 8,
  os: 3,
  attrs: 0o100644 * 0x10000,
  /** The first day that an archive can express, which is read in the local time. */
  mtime: new Date(1980, 0, 1),
}

/** Returns a function that writes an archive of files by their names. It compresses a file once for all archives. */
export function archiver(): (files: Readonly<Record<string, Uint8Array>>) => Uint8Array {
  const known = new Map<Uint8Array, Uint8Array<ArrayBuffer>>()
  return (files) => {
    const parts: Uint8Array[] = []
    const zip = new Zip((error, part) => {
      if (error) throw error
      parts.push(part)
    })
    for (const [filename, contents] of Object.entries(files)) {
      const compressed = known.get(contents) ?? deflateSync(contents)
      known.set(contents, compressed)
      const file: ZipInputFile = { filename, size: contents.length, crc: crc32(contents), ...attributes }
      zip.add(file)
      file.ondata?.(null, compressed, true)
    }
    zip.end()
    return Buffer.concat(parts)
  }
}
