/** The part of echarts-gl that is used; it brings no types. */
declare module 'echarts-gl/charts' {
  export const SurfaceChart: (registers: object) => void
}

declare module 'echarts-gl/components' {
  export const Grid3DComponent: (registers: object) => void
}
