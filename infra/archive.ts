/** Writes zip archives that share files (PKWARE's APPNOTE.TXT, 4.3 and 4.4). Their bytes depend on the files only. */
import { crc32 } from 'node:zlib'
import { deflateSync } from 'fflate'

/** Version 2.0 of the format, on Unix. */
const VERSION = 20
const UNIX = 3
const DEFLATED = 8
/** The first day that an archive can express, and Unix mode 0644. */
const DATE = (1 << 5) | 1
const MODE = 0o100644

interface Entry {
  name: Buffer
  /** The 26 bytes that the local header and that of the directory share. */
  header: Buffer
  compressed: Uint8Array
}

/** Returns a function that writes an archive of files by their ASCII names. It compresses a file once for all archives. */
export function archiver(): (files: Readonly<Record<string, Uint8Array>>) => Uint8Array {
  const known = new Map<Uint8Array, Entry>()
  return (files) =>
    archive(
      Object.entries(files).map(([name, contents]) => {
        const entry = known.get(contents) ?? entryOf(name, contents)
        known.set(contents, entry)
        return entry
      }),
    )
}

function entryOf(path: string, contents: Uint8Array): Entry {
  const name = Buffer.from(path, 'ascii')
  const compressed = deflateSync(contents)
  const header = Buffer.alloc(26)
  header.writeUInt16LE(VERSION, 0)
  header.writeUInt16LE(DEFLATED, 4)
  header.writeUInt16LE(DATE, 8)
  header.writeUInt32LE(crc32(contents), 10)
  header.writeUInt32LE(compressed.length, 14)
  header.writeUInt32LE(contents.length, 18)
  header.writeUInt16LE(name.length, 22)
  return { name, header, compressed }
}

function archive(entries: readonly Entry[]): Uint8Array {
  const files: Uint8Array[] = []
  const directory: Uint8Array[] = []
  let offset = 0
  for (const { name, header, compressed } of entries) {
    const more = Buffer.alloc(14)
    more.writeUInt32LE(MODE * 0x10000, 6)
    more.writeUInt32LE(offset, 10)
    directory.push(Buffer.from([0x50, 0x4b, 1, 2, VERSION, UNIX]), header, more, name)
    const file = [Buffer.from('PK\x03\x04', 'latin1'), header, name, compressed]
    files.push(...file)
    offset += lengthOf(file)
  }
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(lengthOf(directory), 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...files, ...directory, end])
}

const lengthOf = (parts: readonly Uint8Array[]) => parts.reduce((sum, { length }) => sum + length, 0)
