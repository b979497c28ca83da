"""Modules that are given pictures of the host: no tensor enters them, so nothing of them is compiled."""
import functools
import random
from typing import List, Optional, TypeVar, Union

import numpy as np
import PIL
import torch
import torchvision.transforms.functional as tvf
from PIL import Image, ImageEnhance, ImageOps
from PIL.Image import Image as Picture

Either = TypeVar("Either", torch.Tensor, Picture)


class Mixes(torch.nn.Module):
    def forward(self, img: Picture) -> Picture:
        weight = np.random.beta(1.0, 1.0)  # clean: traced-side-effect
        return Image.fromarray(np.uint8(weight * np.asarray(img)))


class MixesMany(torch.nn.Module):
    def forward(self, imgs: List["PIL.Image.Image"], fill: Optional[int] = None):
        return [img.rotate(random.random()) for img in imgs]  # clean: traced-side-effect


class Enhances(torch.nn.Module):
    def forward(self, x):
        if random.random() < 0.5:  # clean: traced-side-effect
            x = ImageEnhance.Color(x).enhance(2)
        return ImageOps.autocontrast(x)


class Converts(torch.nn.Module):
    def forward(self, x):
        if random.random() < 0.5:  # clean: traced-side-effect
            x = x.resize((9, 9))
        return tvf.pil_to_tensor(x)


def augment(img: Either, depth: int) -> Either:
    def on_picture(img: Picture, depth: int) -> Picture:
        for _ in range(depth):
            img = img.rotate(random.random())  # clean: traced-side-effect
        return img

    return map_either(functools.partial(on_picture, depth=depth), img)


def map_either(function, img):
    return torch.stack([function(i) for i in img]) if isinstance(img, torch.Tensor) else function(img)


class Augments(torch.nn.Module):
    def forward(self, img: Either) -> Either:
        return augment(img, 2)


class TakesBoth(torch.nn.Module):
    """A tensor may enter here."""

    def forward(self, img: Union[torch.Tensor, Picture]):
        return img * random.random()  # expect: traced-side-effect


class TestsBoth(torch.nn.Module):
    def forward(self, img):
        if isinstance(img, Image.Image):
            img = tvf.pil_to_tensor(img)
        return self.net(img) * random.random()  # expect: traced-side-effect


class TestsAndEnhances(torch.nn.Module):
    def forward(self, img):
        if isinstance(img, Image.Image):
            img = ImageOps.autocontrast(img)
        return img + random.random()  # expect: traced-side-effect


class ImageOps2:
    """A class of this file with the name of a library's module does not decide."""

    @staticmethod
    def autocontrast(x):
        return x


class UsesOwn(torch.nn.Module):
    def forward(self, x):
        return ImageOps2.autocontrast(x) + random.random()  # expect: traced-side-effect
