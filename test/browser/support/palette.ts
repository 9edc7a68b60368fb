/**
 * Makes pictures of pages a third as large: reduces a PNG of Chromium (8 bits, RGB or RGBA, not interlaced) to a palette of 128 colours.
 * Colours of areas stay exact, and only those between letters and their background move. Source: the PNG specification, sections 9 and 11.
 */
import { crc32, deflateSync, inflateSync } from 'node:zlib'

const COLOURS = 128
/** So many of them are kept for the most frequent colours, which are those of areas. */
const AREAS = 24
const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')

interface Picture {
  width: number
  height: number
  /** One number for each pixel: red, green and blue. */
  pixels: Uint32Array
}

export function withPalette(png: Buffer): Buffer {
  const { width, height, pixels } = decode(png)
  const counts = new Map<number, number>()
  for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1)
  const boxes = boxesOf([...counts].map(([colour, count]) => ({ colour, count })))
  const indexes = new Map(boxes.flatMap((box, index) => box.map(({ colour }) => [colour, index] as const)))
  const lines = Buffer.alloc((width + 1) * height)
  pixels.forEach((colour, at) => {
    lines[at + Math.floor(at / width) + 1] = indexes.get(colour) ?? 0
  })
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3], 8)
  // The most frequent colour of a box stands for it.
  const palette = boxes.flatMap((box) => {
    const { colour } = box.reduce((most, one) => (one.count > most.count ? one : most))
    return [colour >> 16, (colour >> 8) & 255, colour & 255]
  })
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette)),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

interface Colour {
  colour: number
  count: number
}

/** Gives each colour of an area a box of its own, and splits the others, each time the box that is widest, at the middle of its widest side. */
function boxesOf(colours: Colour[]): Colour[][] {
  const frequent = colours.toSorted((a, b) => b.count - a.count)
  const boxes = [...frequent.slice(0, AREAS).map((one) => [one]), frequent.slice(AREAS)].filter((box) => box.length > 0)
  while (boxes.length < COLOURS) {
    const sides = boxes.map(widestSide)
    const widest = sides.reduce((best, side, index) => (side.length > (sides[best]?.length ?? 0) ? index : best), 0)
    const { shift, length, middle } = sides[widest] ?? { shift: 0, length: 0, middle: 0 }
    if (length === 0) break
    const [below = [], above = []] = [true, false].map((isBelow) =>
      boxes[widest]?.filter(({ colour }) => ((colour >> shift) & 255) <= middle === isBelow),
    )
    boxes.splice(widest, 1, below, above)
  }
  return boxes
}

function widestSide(box: readonly Colour[]): { shift: number; length: number; middle: number } {
  const sides = [16, 8, 0].map((shift) => {
    const values = box.map(({ colour }) => (colour >> shift) & 255)
    const [least, most] = [Math.min(...values), Math.max(...values)]
    return { shift, length: most - least, middle: (least + most) >> 1 }
  })
  return sides.reduce((widest, side) => (side.length > widest.length ? side : widest))
}

function decode(png: Buffer): Picture {
  const data: Buffer[] = []
  let [width, height, channels] = [0, 0, 3]
  for (let at = SIGNATURE.length; at < png.length; at += 12 + png.readUInt32BE(at)) {
    const type = png.toString('latin1', at + 4, at + 8)
    const content = png.subarray(at + 8, at + 8 + png.readUInt32BE(at))
    if (type === 'IDAT') data.push(content)
    if (type !== 'IHDR') continue
    ;[width, height] = [content.readUInt32BE(0), content.readUInt32BE(4)]
    const [depth, kind, , , interlace] = content.subarray(8)
    if (depth !== 8 || (kind !== 2 && kind !== 6) || interlace !== 0) throw new Error('an unknown form of PNG')
    channels = kind === 6 ? 4 : 3
  }
  const lines = unfiltered(inflateSync(Buffer.concat(data)), { stride: width * channels, height, channels })
  const pixels = Uint32Array.from({ length: width * height }, (_, at) => lines.readUIntBE(at * channels, 3))
  return { width, height, pixels }
}

/** Undoes the filter of each line. The byte before a line says which one it has. */
function unfiltered(raw: Buffer, { stride, height, channels }: { stride: number; height: number; channels: number }) {
  const lines = Buffer.alloc(stride * height)
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)]
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x
      const left = x < channels ? 0 : (lines[at - channels] ?? 0)
      const up = y === 0 ? 0 : (lines[at - stride] ?? 0)
      const corner = x < channels || y === 0 ? 0 : (lines[at - stride - channels] ?? 0)
      const guess = [0, left, up, (left + up) >> 1, nearest(left, up, corner)][filter ?? 0] ?? 0
      lines[at] = (raw[y * (stride + 1) + 1 + x] ?? 0) + guess
    }
  }
  return lines
}

/** The filter of Paeth: whichever of the three is nearest to left + up - corner. */
function nearest(left: number, up: number, corner: number): number {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)]
  if (a <= b && a <= c) return left
  return b <= c ? up : corner
}

function chunk(type: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), content])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(content.length, 0)
  frame.writeUInt32BE(crc32(named), 4)
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)])
}
