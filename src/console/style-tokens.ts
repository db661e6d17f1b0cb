// Colours and measures of all pages, light and dark. Chart colours can be told apart by colour-blind people (after Okabe and Ito) and have a contrast of
// 3:1; text has 4.5:1. Nothing is said by colour alone.

export const TOKENS = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f5f6f8, #11141a);
  --card: light-dark(#ffffff, #1a1e26);
  --mute: light-dark(#eceff3, #262c37);
  --line: light-dark(#dce0e7, #323a47);
  --ink: light-dark(#1a2029, #e7eaf0);
  --soft: light-dark(#566072, #9ba6b7);
  --link: light-dark(#0b57b0, #7db8ff);
  --focus: light-dark(#0b57b0, #a9d0ff);
  --good: light-dark(#12663a, #6fd39b);
  --good-ground: light-dark(#e1f3e8, #15301f);
  --warn: light-dark(#7a4a00, #f0bd62);
  --warn-ground: light-dark(#fdf0d5, #382a10);
  --bad: light-dark(#a01c1c, #ff9d95);
  --bad-ground: light-dark(#fce6e4, #421c1b);
  --info: light-dark(#0b4f9e, #8cc2ff);
  --info-ground: light-dark(#e4effc, #14294a);
  --c-main: light-dark(#0072b2, #4aa8e0);
  --c-even: light-dark(#7a8494, #8a95a5);
  --c-limit: light-dark(#a01c1c, #ff9d95);
  --c-balance: light-dark(#9a7400, #e0bd3f);
  --c-good: light-dark(#009e73, #2fc295);
  --c-bad: light-dark(#d55e00, #f08a3c);
  --c-s0: light-dark(#0072b2, #4aa8e0);
  --c-s1: light-dark(#d55e00, #f08a3c);
  --c-s2: light-dark(#009e73, #2fc295);
  --c-s3: light-dark(#a2528f, #d991c5);
  --c-s4: light-dark(#3d9bd4, #8cccf2);
  --c-s5: light-dark(#9a7400, #e0bd3f);
  --c-s6: light-dark(#5b5fc7, #9ea1f2);
  --c-rest: light-dark(#8791a1, #727d8e);
  --heat: light-dark(#0072b2, #4aa8e0);
  --heat-warm: light-dark(#d58a00, #e0bd3f);
  --heat-hot: light-dark(#d55e00, #f08a3c);
  --gap: 1rem;
  --radius: 8px;
  --text: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --code: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
}
`
