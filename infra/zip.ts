/** Zip archives that depend on their contents only: no time, no owner. Format: PKWARE APPNOTE.TXT 4.3. */
import { promisify } from 'node:util'
import { crc32, deflateRaw } from 'node:zlib'

export interface Entry {
  /** Path in the archive, with slashes. */
  path: string
  compressed: Uint8Array
  size: number
  crc: number
}

const deflate = promisify(deflateRaw)

/** A file, compressed once for however many archives it goes into. */
export async function entry(path: string, contents: Uint8Array): Promise<Entry> {
  return { path, compressed: await deflate(contents), size: contents.length, crc: crc32(contents) }
}

/** The archive of these entries, in their order. */
export function archive(entries: readonly Entry[]): Buffer {
  const locals: Uint8Array[] = []
  const directory: Uint8Array[] = []
  let offset = 0
  for (const one of entries) {
    const name = Buffer.from(one.path)
    const header = headerOf(one, name.length)
    locals.push(localSignature, header, name, one.compressed)
    directory.push(directorySignature, madeByUnix, header, placeOf(offset), name)
    offset += localSignature.length + header.length + name.length + one.compressed.length
  }
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(
    directory.reduce((sum, { length }) => sum + length, 0),
    12,
  )
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, ...directory, end])
}

const localSignature = Buffer.from('PK\x03\x04', 'latin1')
const directorySignature = Buffer.from('PK\x01\x02', 'latin1')
/** Version 2.0 on Unix, so that the mode in the directory counts. */
const madeByUnix = Buffer.from([20, 3])

/** What the header before a file and its line in the directory have in common. */
function headerOf({ compressed, size, crc }: Entry, nameLength: number): Buffer {
  const header = Buffer.alloc(26)
  header.writeUInt16LE(20, 0) // version needed: 2.0
  header.writeUInt16LE(8, 4) // deflate
  header.writeUInt16LE(0x21, 8) // 1980-01-01, the first day there is
  header.writeUInt32LE(crc, 10)
  header.writeUInt32LE(compressed.length, 14)
  header.writeUInt32LE(size, 18)
  header.writeUInt16LE(nameLength, 22)
  return header
}

/** The rest of a line in the directory: mode 0644 of a regular file, and where it begins. */
function placeOf(offset: number): Buffer {
  const place = Buffer.alloc(14)
  place.writeUInt32LE((0o100644 << 16) >>> 0, 6)
  place.writeUInt32LE(offset, 10)
  return place
}
