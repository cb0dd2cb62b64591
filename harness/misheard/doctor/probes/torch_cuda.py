"""Imports torch and torchaudio, says which CUDA torch was built for, and computes where there is a device."""

from misheard.doctor.probes import die_with_parent, tell
from misheard.doctor.probes.libraries import import_all


def main() -> None:
    """Ask torch."""
    import_all(["torch=torch", "torchaudio=torchaudio"])
    import torch

    available = torch.cuda.is_available()
    tell(cuda=torch.version.cuda, available=available)
    if available:
        try:
            ones = torch.ones(8, 8, device="cuda")
            tell(right=(ones @ ones).sum().item() == 512)
        except RuntimeError as error:
            tell(kernel=str(error).splitlines()[0])


if __name__ == "__main__":
    die_with_parent()
    main()
