/** Tests the reduction of pictures: they stay what they were, and become smaller. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { test } from './support/browser.ts'
import { withPalette } from './support/palette.ts'

/** Returns red, green and blue of points of a picture, as the browser shows them. */
const coloursAt = (page: Page, png: Buffer, points: readonly (readonly [x: number, y: number])[]) =>
  page.evaluate(
    async ([url, all]) => {
      const image = new Image()
      image.src = url
      await image.decode()
      const canvas = new OffscreenCanvas(image.width, image.height)
      const context = canvas.getContext('2d')
      context?.drawImage(image, 0, 0)
      const colours = all.map(([x, y]) => [...(context?.getImageData(x, y, 1, 1).data ?? [])].slice(0, 3))
      return { size: [image.width, image.height], colours }
    },
    [`data:image/png;base64,${png.toString('base64')}`, points] as const,
  )

test('areas keep their colours, and all others come near', async ({ chromium }) => {
  const page = await chromium.newPage({ viewport: { width: 501, height: 301 } })
  try {
    await page.setContent(`<style>
      body { margin: 0; background: linear-gradient(#f0f8, #0f08), linear-gradient(90deg, #123456, #fedcba) }
      div { position: absolute; width: 60px; height: 60px; top: 10px }
    </style><div style="left: 0; background: #fff"></div><div style="left: 100px; background: #2457d6"></div>
    <div style="left: 200px; background: #0f1115"></div><div style="left: 300px; background: #f5f6f8"></div><p style="font-size: 40px; color: #b3261e">Keys of the shop</p>`)
    const before = await page.screenshot()
    const after = withPalette(before)
    expect(after.length).toBeLessThan(before.length)
    const areas = [
      [20, 20],
      [120, 20],
      [220, 20],
      [320, 20],
    ] as const
    const shown = await coloursAt(page, after, areas)
    expect(shown).toEqual({
      size: [501, 301],
      colours: [
        [255, 255, 255],
        [0x24, 0x57, 0xd6],
        [0x0f, 0x11, 0x15],
        // Nearly white, as the ground of the pages beside their cards.
        [0xf5, 0xf6, 0xf8],
      ],
    })
    const points = Array.from({ length: 500 }, (_, x) => [x, (x * 7) % 300] as const)
    const [was, is] = await Promise.all([before, after].map((png) => coloursAt(page, png, points)))
    const far = was?.colours.filter((colour, index) =>
      colour.some((value, channel) => Math.abs(value - (is?.colours[index]?.[channel] ?? Number.NaN)) > 24),
    )
    expect(far).toEqual([])
    expect(withPalette(before)).toEqual(after)
  } finally {
    await page.close()
  }
})

test('another form of PNG is refused', async ({ chromium }) => {
  const page = await chromium.newPage()
  const png = await page.screenshot()
  await page.close()
  expect(() => withPalette(withPalette(png))).toThrow('an unknown form of PNG')
})
